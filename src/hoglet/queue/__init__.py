"""Durable jobs: enqueued in the caller's transaction, leased, then finished or retried."""

from hoglet.queue.port import Depth, Job, LeaseLost, NewJob, Priority, Queue

__all__ = ["Depth", "Job", "LeaseLost", "NewJob", "Priority", "Queue"]
