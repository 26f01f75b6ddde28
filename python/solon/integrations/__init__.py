"""Decisions in web frameworks.

- ``solon.integrations.asgi``: middleware for every ASGI application. It needs no other package.
- ``solon.integrations.fastapi``: dependencies for FastAPI. Only this module imports FastAPI.
"""
