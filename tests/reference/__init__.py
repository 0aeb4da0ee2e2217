"""A slow, plain reference of one DE run, written from the specification alone, and worked cases for it."""
