import { useEffect, useRef, useState } from 'react'
import { Icon } from '../look/icons.tsx'
import { copyText } from '../platform/clipboard.ts'
import { t } from '../words/words.ts'

/** Copies a text, and says so where it was pressed. */
export const Copy = ({
  text,
  what,
  wide = false,
}: {
  readonly text: string
  readonly what: string
  readonly wide?: boolean
}) => {
  const [done, setDone] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (): Promise<void> => {
    await copyText(text)
    setDone(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(false), 2000)
  }
  const name = done ? t('copy.done') : t('copy.of', { what })
  return (
    <button
      type="button"
      className={wide ? 'copy wide' : 'copy'}
      onClick={() => void copy()}
      title={name}
      aria-label={name}
    >
      <Icon name={done ? 'check' : 'copy'} />
      {wide ? <span>{done ? t('copy.done') : t('copy.it')}</span> : null}
    </button>
  )
}

/** What is typed in a terminal, as one block that is copied whole. */
export const Commands = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <div className="commands">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
    <section tabIndex={0} aria-label={what}>
      <pre>{text}</pre>
    </section>
    <Copy text={text} what={what} wide />
  </div>
)
