"""Durable work: jobs enqueued in the caller's own transaction, leased, finished or tried again."""

from hoglet.queue.port import Depth, Job, LeaseLost, NewJob, Priority, Queue

__all__ = ["Depth", "Job", "LeaseLost", "NewJob", "Priority", "Queue"]
