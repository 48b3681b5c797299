"""sprintrec: train, measure and serve SPRINT, a single-step generative recommender."""

__version__ = "0.1.0"
