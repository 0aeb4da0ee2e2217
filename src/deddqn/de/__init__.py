"""The search of Sect. 2.1: a portfolio of mutation strategies, and the kernels draw, propose and settle."""

from deddqn.de.config import DEConfig
from deddqn.de.portfolio import BEYOND, PAPER, Entry, Portfolio

__all__ = ["BEYOND", "PAPER", "DEConfig", "Entry", "Portfolio"]
