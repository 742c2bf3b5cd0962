"""Durable jobs: enqueued in the caller's transaction, leased, then finished or retried."""

from hoglet.queue.port import Depth, Job, LaneLimit, LeaseLost, NewJob, Priority, Queue, Retry

__all__ = ["Depth", "Job", "LaneLimit", "LeaseLost", "NewJob", "Priority", "Queue", "Retry"]
