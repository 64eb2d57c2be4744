"""Figures of a report: every raw point with estimates, curves of every run, spreads of variants, as text of SVG."""
