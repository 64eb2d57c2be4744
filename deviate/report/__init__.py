"""The report: findings become a document, the document becomes text."""
