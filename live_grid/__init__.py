"""live_grid: a Second Life / OpenSimulator protocol client of sans-IO cores and thin trio shells."""
