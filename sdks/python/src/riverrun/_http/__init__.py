"""HTTP over the standard library, for threads and for asyncio."""
