import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { isProblem } from '../contract/problem.ts'
import { ask, useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'

const waitSeconds = 30
const restMs = 15_000

/**
 * How much changed in a repository since one looked: rows never move by themselves, one asks for them. A tab that is
 * looked at keeps one request waiting.
 */
export const News = ({ repository, of }: { readonly repository: string; readonly of: readonly OperationId[] }) => {
  const allowed = useMay()('listCatalogChanges', repository).may
  const client = useQueryClient()
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (!allowed) return
    setCount(0)
    const over = new AbortController()
    void follow(repository, over.signal, (more) => setCount((was) => was + more))
    return () => over.abort()
  }, [allowed, repository])
  const show = (): void => {
    setCount(0)
    for (const id of of) void client.invalidateQueries({ queryKey: [id] })
  }
  return (
    <div role="status" className="news">
      {count === 0 ? null : (
        <p className="band">
          {t('list.new', { count })}
          <button type="button" className="link" onClick={show}>
            {t('list.show')}
          </button>
        </p>
      )}
    </div>
  )
}

const follow = async (repository: string, over: AbortSignal, tell: (more: number) => void): Promise<void> => {
  let after: string | undefined
  while (!over.aborted) {
    try {
      await untilLookedAt(over)
      if (over.aborted) return
      if (after === undefined) {
        after = (await ask('listCatalogChanges', { path: { repository }, query: { limit: 1 } }, over)).head
        continue
      }
      const { items, next } = await ask(
        'listCatalogChanges',
        { path: { repository }, query: { after, limit: 100, wait: waitSeconds } },
        over,
      )
      after = next
      if (items.length > 0) tell(items.length)
    } catch (error) {
      if (over.aborted || (isProblem(error) && (error.status === 401 || error.status === 403 || error.status === 404)))
        return
      if (isProblem(error) && error.code === 'cursor_lost') after = undefined
      await rest(isProblem(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0, over)
    }
  }
}

const rest = (askedMs: number, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(askedMs, restMs))
    over.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const untilLookedAt = (over: AbortSignal): Promise<void> =>
  document.visibilityState === 'visible'
    ? Promise.resolve()
    : new Promise((resolve) => {
        document.addEventListener('visibilitychange', () => resolve(), { once: true, signal: over })
        over.addEventListener('abort', () => resolve())
      })
