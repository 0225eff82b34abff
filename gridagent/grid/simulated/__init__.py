"""The simulated grid: a virtual world in memory that ships with the product (Spec: SIM-1)."""
