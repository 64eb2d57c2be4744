"""Where two runs diverge: comparison of traces, size of the first difference, and its likely causes."""
