import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { hasShortcuts } from '../look/preferences.ts'
import { Dialog } from '../parts/dialog.tsx'
import { undoNewest } from '../parts/toasts.tsx'
import { type PlainId, t } from '../words/words.ts'
import { openPalette } from './palette-state.ts'

const shown: readonly (readonly [keys: string, what: PlainId])[] = [
  ['Ctrl K', 'keyboard.palette'],
  ['/', 'keyboard.search'],
  ['j k', 'keyboard.rows'],
  ['Enter', 'keyboard.open'],
  ['x', 'keyboard.choose'],
  ['Ctrl Z', 'keyboard.undo'],
  ['g h', 'keyboard.home'],
  ['g r', 'keyboard.repositories'],
  ['g t', 'keyboard.transfers'],
  ['g c', 'keyboard.connect'],
  ['?', 'keyboard.help'],
]

const places = { h: '/', r: '/r', t: '/transfers', c: '/connect', a: '/access', s: '/system', m: '/me' } as const
const isKey = (key: string): key is keyof typeof places => key in places

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable)

/** Single letters as commands, unless somebody switched them off. */
export const Shortcuts = () => {
  const navigate = useNavigate()
  const [help, setHelp] = useState(false)
  const went = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // Also in a dialog, which keeps the focus from what can be taken back. A field has an undo of its own.
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z'
      if (isUndo && !isTyping(event.target) && undoNewest()) {
        event.preventDefault()
        return
      }
      if (!hasShortcuts() || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.target instanceof Element && event.target.closest('[role="dialog"]') !== null) return
      const isSecond = Date.now() - went.current < 1200
      went.current = 0
      if (isSecond && isKey(event.key)) void navigate({ to: places[event.key] })
      else if (event.key === 'g') went.current = Date.now()
      else if (event.key === '/') openPalette()
      else if (event.key === '?') setHelp(true)
      else if (event.key === 'j' || event.key === 'k') {
        const row = document.querySelector<HTMLElement>('.grid-body [role="row"][tabindex="0"]')
        if (row === null || row.closest('.grid')?.contains(document.activeElement) === true) return
        row.focus()
      } else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate])
  return (
    <Dialog title={t('keyboard.title')} open={help} close={() => setHelp(false)}>
      <dl className="keys-help">
        {shown.map(([keys, what]) => (
          <div key={keys} className="line">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
      <p className="muted small">{t('keyboard.off')}</p>
    </Dialog>
  )
}
