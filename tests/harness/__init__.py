"""What several tests share beside fixtures."""
