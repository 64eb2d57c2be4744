"""What every room may use: packages that load on first use, git asked safely, digests, secrets kept out of records."""
