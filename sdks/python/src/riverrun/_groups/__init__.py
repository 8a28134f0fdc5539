"""What a client knows beside jobs and runs: a group of methods for each."""
