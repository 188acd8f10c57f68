import { type KeyboardEvent, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { t } from '../words/words.ts'
import { shownAs } from './values.tsx'

export interface Column<Row> {
  readonly key: string
  readonly label: string
  /** A track of the grid, such as `1fr` or `120px`. */
  readonly width: string
  readonly show: (row: Row) => ReactNode
  /** Left out where the page is narrow: on a tablet, or on a telephone alone. */
  readonly wide?: boolean | 'middle'
  readonly end?: boolean
}

interface Given<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** There is more behind the last row; it is asked for when that comes in sight. */
  readonly hasMore?: boolean
  readonly more?: () => void
  readonly loadingMore?: boolean
  /** Rows before the first of `rows`, which were there and come again by `earlier`. */
  readonly offset?: number
  readonly earlier?: () => void
  readonly chosen?: ReadonlySet<string>
  readonly choose?: (key: string, range: boolean) => void
}

const aroundRows = 12

/** A track that gives way where the page is narrow; the first that takes what is left keeps enough to be read. */
const squeezed = (widths: readonly string[]): string[] => {
  const first = widths.findIndex((width) => width.endsWith('fr)'))
  return widths.map((width, at) => {
    if (/^\d+px$/.test(width)) return `minmax(0, ${width})`
    return width.replace(/^minmax\(\d+px/, at === first ? 'minmax(30%' : 'minmax(0')
  })
}

const rowPx = (): number =>
  Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 36

/** Which rows are in sight, by where the grid lies in the window. */
const useWindowed = (offset: number, count: number) => {
  const body = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ from: 0, to: 60 })
  useLayoutEffect(() => {
    let frame = 0
    const look = (): void => {
      frame = 0
      const top = body.current?.getBoundingClientRect().top ?? 0
      const height = rowPx()
      const from = Math.max(0, Math.floor(-top / height) - aroundRows)
      const to = Math.ceil((window.innerHeight - top) / height) + aroundRows
      setRange((was) => (was.from === from && was.to === to ? was : { from, to }))
    }
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [])
  const within = (row: number): number => Math.max(offset, Math.min(row, offset + count))
  return { body, from: within(range.from), to: within(range.to) }
}

const isField = (target: EventTarget): boolean =>
  target instanceof HTMLElement && /^(?:TEXTAREA|SELECT)$/.test(target.tagName)

const classOf = ({ wide, end }: Pick<Column<never>, 'wide' | 'end'>): string =>
  ['cell', wide === true ? 'wide' : (wide ?? ''), end === true ? 'end' : ''].filter(Boolean).join(' ')

function LineOf<Row>({
  row,
  columns,
  position,
  isActive,
  isChosen,
  focused,
}: {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly position: number
  readonly isActive: boolean
  /** Undefined where nothing can be chosen. */
  readonly isChosen: boolean | undefined
  readonly focused: (position: number) => void
}) {
  return (
    <div
      role="row"
      className={isChosen === true ? 'row chosen' : 'row'}
      data-at={position}
      aria-rowindex={position + 2}
      aria-selected={isChosen}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => focused(position)}
      style={{ '--at': position } as Record<string, number>}
    >
      {columns.map((column) => (
        <div key={column.key} role="gridcell" tabIndex={-1} className={classOf(column)}>
          {shownAs(column.show(row))}
        </div>
      ))}
    </div>
  )
}

/** Scrolling and moving from row to row draw the rows anew that changed, and no others. */
const Line = memo(LineOf) as typeof LineOf

/**
 * Rows of any number, of which those in sight are in the page. Keys move from row to row (arrows, `j` and `k`, Home, End),
 * Enter opens the first link in one, `x` chooses it. A table could not leave rows out, so roles say what this is.
 */
export function Grid<Row>({
  label,
  rows,
  columns,
  keyOf,
  hasMore = false,
  more,
  loadingMore = false,
  offset = 0,
  earlier,
  chosen,
  choose,
}: Given<Row>) {
  const { body, from, to } = useWindowed(offset, rows.length)
  const end = offset + rows.length
  const [active, setActive] = useState(0)
  const wantsFocus = useRef(false)
  const at = Math.max(offset, Math.min(active, end - 1))

  useEffect(() => {
    if (loadingMore) return
    if (hasMore && to >= end - aroundRows) more?.()
    else if (from <= offset + aroundRows) earlier?.()
  }, [hasMore, loadingMore, more, earlier, from, to, offset, end])

  useEffect(() => {
    if (!wantsFocus.current) return
    const row = body.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)
    if (row === null || row === undefined) return
    wantsFocus.current = false
    row.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  }, [at, body])

  const go = (next: number): void => {
    const bounded = Math.max(offset, Math.min(end - 1, next))
    wantsFocus.current = true
    setActive(bounded)
    if (bounded < from || bounded >= to) {
      const top = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY
      window.scrollTo({ top: top + bounded * rowPx() - window.innerHeight / 2 })
    }
  }

  const onKey = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (event.target instanceof HTMLInputElement ? event.target.type !== 'checkbox' : isField(event.target)) return
    const row = rows[at - offset]
    switch (event.key) {
      case 'ArrowDown':
      case 'j':
        go(at + 1)
        break
      case 'ArrowUp':
      case 'k':
        go(at - 1)
        break
      case 'Home':
        go(offset)
        break
      case 'End':
        go(end - 1)
        break
      case 'x':
      case 'X':
        if (row === undefined || choose === undefined) return
        choose(keyOf(row), event.shiftKey)
        break
      case 'Enter': {
        if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'row') return
        event.target.querySelector<HTMLElement>('a, button')?.click()
        break
      }
      default:
        return
    }
    event.preventDefault()
  }

  const template = columns.map(({ width }) => width).join(' ')
  const tracks = (shown: readonly Column<Row>[]): string => squeezed(shown.map(({ width }) => width)).join(' ')
  const style = {
    '--columns': template,
    '--squeezed-columns': squeezed(columns.map(({ width }) => width))
      .map((width, at) => (columns[at]?.key === 'act' ? columns[at].width : width))
      .join(' '),
    '--middle-columns': tracks(columns.filter(({ wide }) => wide !== true)),
    '--narrow-columns': tracks(columns.filter(({ wide = false }) => wide === false)),
  } as Record<string, string>
  return (
    <>
      <div
        className="grid"
        role="grid"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : end + 1}
        aria-multiselectable={choose === undefined ? undefined : true}
        style={style}
        onKeyDown={onKey}
      >
        <div role="rowgroup">
          <div role="row" className="row head" aria-rowindex={1} tabIndex={-1}>
            {columns.map((column) => (
              <div key={column.key} role="columnheader" tabIndex={-1} className={classOf(column)}>
                {column.label}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" ref={body} className="grid-body" style={{ '--count': end } as Record<string, number>}>
          {rows.slice(from - offset, to - offset).map((row, index) => {
            const key = keyOf(row)
            const position = from + index
            return (
              <Line
                key={key}
                row={row}
                columns={columns}
                position={position}
                isActive={position === at}
                isChosen={choose === undefined ? undefined : chosen?.has(key) === true}
                focused={setActive}
              />
            )
          })}
        </div>
      </div>
      <p className="grid-end muted small" role="status">
        {loadingMore ? t('state.loading') : ''}
      </p>
    </>
  )
}
