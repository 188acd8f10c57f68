import { Button } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { t } from '../words/words.ts'
import type { Column } from './grid.tsx'

/** Rows that are chosen, to do the same with all of them; with Shift, all up to the one that was touched last. */
export const useChosen = () => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const choose = (keys: readonly string[], key: string, range: boolean): void => {
    const to = keys.indexOf(key)
    const from = range && last.current !== null ? keys.indexOf(last.current) : to
    const adds = !chosen.has(key)
    const next = new Set(chosen)
    for (const each of keys.slice(Math.min(from < 0 ? to : from, to), Math.max(from, to) + 1))
      if (adds) next.add(each)
      else next.delete(each)
    last.current = key
    setChosen(next)
  }
  return { chosen, choose, clear: () => setChosen(new Set()) }
}

/** The box by which a row is chosen with a pointer; keys choose it by `x`. */
export const boxColumn = <Row,>({
  keyOf,
  nameOf,
  chosen,
  choose,
  isFor = () => true,
}: {
  readonly keyOf: (row: Row) => string
  readonly nameOf: (row: Row) => string
  readonly chosen: ReadonlySet<string>
  readonly choose: (key: string, range: boolean) => void
  /** Not every row of a list can be chosen. */
  readonly isFor?: (row: Row) => boolean
}): Column<Row> => ({
  key: 'box',
  label: '',
  width: '24px',
  show: (row) =>
    isFor(row) ? (
      <input
        type="checkbox"
        className="box"
        aria-label={t('choice.choose', { name: nameOf(row) })}
        checked={chosen.has(keyOf(row))}
        onChange={(event) => {
          const { nativeEvent } = event
          choose(keyOf(row), nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }}
        tabIndex={-1}
      />
    ) : null,
})

/** What may be done with all that is chosen. */
export const ChoiceBar = ({
  count,
  clear,
  children,
}: {
  readonly count: number
  readonly clear: () => void
  readonly children: ReactNode
}) =>
  count === 0 ? null : (
    <section className="choice" aria-label={t('choice.bar')}>
      <strong role="status">{t('choice.count', { count })}</strong>
      <span className="line">{children}</span>
      <Button variant="subtle" size="compact-sm" onClick={clear}>
        {t('choice.clear')}
      </Button>
    </section>
  )
