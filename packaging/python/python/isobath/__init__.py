"""Isobath: generates tests for database-backed software by search. The program is the command ``isobath``."""
