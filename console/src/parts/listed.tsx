import type { ReactNode } from 'react'
import { type Column, Grid } from './grid.tsx'
import { Failed, Loading } from './states.tsx'

interface Pages<Row> {
  readonly data: { readonly pages: readonly { readonly items: readonly Row[] }[] } | undefined
  readonly error: unknown
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => unknown
  readonly hasPreviousPage: boolean
  readonly isFetchingPreviousPage: boolean
  readonly fetchPreviousPage: () => unknown
  /** Rows before those that are kept. */
  readonly offset: number
  readonly refetch: () => unknown
}

interface Given<Row> {
  readonly of: Pages<Row>
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly empty: ReactNode
  /** Rows that stand before those of the list. */
  readonly chosen?: ReadonlySet<string>
  readonly choose?: (key: string, range: boolean) => void
}

/** A list by pages in whichever state it is: coming, refused, empty, or its rows. */
export function Listed<Row>({ of, label, columns, keyOf, empty, chosen, choose }: Given<Row>) {
  if (of.data === undefined)
    return of.error === null ? <Loading /> : <Failed error={of.error} again={() => void of.refetch()} />
  const rows = of.data.pages.flatMap(({ items }) => items)
  if (rows.length === 0 && !of.hasNextPage) return <>{empty}</>
  return (
    <>
      {of.error === null ? null : <Failed error={of.error} again={() => void of.refetch()} />}
      <Grid
        label={label}
        rows={rows}
        columns={columns}
        keyOf={keyOf}
        hasMore={of.hasNextPage}
        more={() => void of.fetchNextPage()}
        loadingMore={of.isFetchingNextPage || of.isFetchingPreviousPage}
        offset={of.offset}
        {...(of.hasPreviousPage ? { earlier: () => void of.fetchPreviousPage() } : {})}
        {...(chosen === undefined ? {} : { chosen })}
        {...(choose === undefined ? {} : { choose })}
      />
    </>
  )
}
