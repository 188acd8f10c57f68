import { useSyncExternalStore } from 'react'
import { isProblem } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { seen } from '../values/unseen.ts'
import { said, t } from '../words/words.ts'

type Undo = () => Promise<unknown>

interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'ok' | 'danger'
  readonly undo: Undo | null
}

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()
const shownMs = 8000

const set = (next: readonly Toast[]): void => {
  toasts = next
  for (const listener of listeners) listener()
}

const drop = (id: number): void => set(toasts.filter((each) => each.id !== id))

const show = (toast: Omit<Toast, 'id'>): void => {
  last += 1
  const id = last
  set([...toasts.slice(-3), { ...toast, id }])
  setTimeout(() => drop(id), toast.undo === null ? shownMs : shownMs * 2)
}

/**
 * Says what was done, and takes it back where it can be; what refuses that is said as well. The part of the page that
 * told it may be gone by then: what is to come after the way back belongs to the promise, not to the end of a mutation.
 */
export const tell = (text: string, undo: Undo | null = null): void => show({ text, tone: 'ok', undo })

/** Takes back the newest of what can be; false where nothing can. */
export const undoNewest = (): boolean => {
  const newest = toasts.findLast(({ undo }) => undo !== null)
  if (newest === undefined) return false
  takeBack(newest)
  return true
}

const takeBack = ({ id, undo }: Toast): void => {
  drop(id)
  undo?.().catch(tellProblem)
}

/** Says what was refused. */
export const tellProblem = (error: unknown): void => {
  const sentence = isProblem(error) ? said('problem', error.code) : t('problem.internal')
  const detail = isProblem(error) && error.message !== '' ? ` ${seen(error.message)}` : ''
  show({ text: sentence + detail, tone: 'danger', undo: null })
}

export const Toasts = () => {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((toast) => {
        const { id, text, tone, undo } = toast
        return (
          <div key={id} className={`toast ${tone}`}>
            <Icon name={tone === 'ok' ? 'check' : 'alert'} />
            <span>{text}</span>
            {undo === null ? null : (
              <button
                type="button"
                className="link"
                aria-keyshortcuts="Control+Z Meta+Z"
                onClick={() => takeBack(toast)}
              >
                {t('toast.undo')}
              </button>
            )}
            <button type="button" className="plain" aria-label={t('toast.close')} onClick={() => drop(id)}>
              <Icon name="cross" />
            </button>
          </div>
        )
      })}
    </div>
  )
}
