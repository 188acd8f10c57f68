import { QueryClient } from '@tanstack/react-query'
import { isProblem } from './problem.ts'

const waitsMs = [500, 2000]

/** What was read, and for how long it counts. Only what may pass by itself is asked again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 10 * 60_000,
      retry: (failed, error) =>
        failed < waitsMs.length &&
        isProblem(error) &&
        (error.status === 0 || error.status === 429 || error.status === 503),
      retryDelay: (failed, error) =>
        isProblem(error) && error.retryAfterSeconds !== null
          ? error.retryAfterSeconds * 1000
          : (waitsMs[failed] ?? 4000),
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
