"""What the budgets of the design are measured with; ``python -m tests.benchmarks``."""
