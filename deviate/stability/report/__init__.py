"""What a report has on stability: sections, tables for papers, CSV files and LaTeX commands."""
