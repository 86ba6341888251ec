"""What measured facts mean: findings, decision graphs and thresholds as readable data, and what reads them."""
