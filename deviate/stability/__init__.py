"""A wing: captured outputs and weights in, measures of how similar runs are and parts of reports out.

The core reaches its modules through `deviate.registry.wing`.
"""
