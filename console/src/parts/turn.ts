import { Problem, problemOf } from '../contract/problem.ts'

/** How a download stands that waits. */
export interface Standing {
  /** How many wait, this one among them. */
  readonly waiting: number
  readonly seconds: number
}

/** What needs no turn is no larger than this. */
export const smallBytes = 64 * 1024

/**
 * Asks until the download that `id` names has its turn, and tells how it stands meanwhile. Answers what lets go of it:
 * the turn is held so that the browser, which is told of no queue, may take part in it. Throws a {@link Problem} for a
 * file that cannot be had, and what `signal` says once it is given up.
 */
export const takeTurn = async (
  address: string,
  id: string,
  tell: (standing: Standing) => void,
  signal: AbortSignal,
): Promise<() => void> => {
  let ticket: string | null = null
  for (;;) {
    const asked = new AbortController()
    const letGo = (): void => asked.abort(signal.reason)
    signal.addEventListener('abort', letGo, { once: true })
    const headers = new Headers({ 'svc-download-id': id })
    // Who need not wait is told so by the first bytes; who had to keeps the turn by not reading on.
    headers.set('range', ticket === null ? `bytes=0-${smallBytes}` : 'bytes=0-')
    if (ticket !== null) headers.set('svc-queue-ticket', ticket)
    const answered = await fetch(address, {
      headers,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'manual',
      signal: asked.signal,
    }).catch((error: unknown) => {
      if (signal.aborted) throw error
      throw new Problem(0, 'offline', '')
    })
    // The store sends it, which has no queue.
    if (answered.ok || answered.type === 'opaqueredirect') return letGo
    const problem = problemOf(answered.status, await answered.text())
    const seconds = problem.retryAfterSeconds ?? 1
    if (problem.code !== 'download_queued') throw problem
    ticket = answered.headers.get('svc-queue-ticket') ?? ticket
    tell({ waiting: Number(answered.headers.get('svc-queue-waiting') ?? 1), seconds })
    await waitFor(seconds * 1000, signal)
  }
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
