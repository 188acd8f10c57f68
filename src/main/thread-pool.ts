import { threadPoolThreads } from '../kernel/limits/engines.ts'

/**
 * Gives the process a thread pool of the size that its parts count on. Must be called before anything uses the pool,
 * whose size is fixed from then on. An operator who wants more says so in UV_THREADPOOL_SIZE; fewer would let slow
 * syncs take all of them.
 */
export const widenThreadPool = (environment: NodeJS.ProcessEnv): void => {
  const wanted = Number(environment['UV_THREADPOOL_SIZE'] ?? 0)
  if (!(wanted >= threadPoolThreads)) environment['UV_THREADPOOL_SIZE'] = String(threadPoolThreads)
}
