"""Who may cause what; see `gridagent.policy.gateway` for the only mint."""
