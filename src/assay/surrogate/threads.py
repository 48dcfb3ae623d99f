"""One thread at a time for small matrices and small trees."""


def one_thread():
    """Return a context in which matrix algebra and trees keep to one thread.

    Two threads gain less than a factor of two here, and lose one of five to ten where another
    process holds a core: they wait for each other in a loop.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
