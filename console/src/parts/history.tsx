import type { ReactNode } from 'react'
import { t } from '../words/words.ts'
import { Failed, Loading } from './states.tsx'
import { Actor, Moment } from './values.tsx'

interface Revision {
  readonly revision: number
  readonly actor: string | null
  readonly actorName: string | null
  readonly createdAt: string | null
}

interface Pages<Row> {
  readonly data: { readonly pages: readonly { readonly items: readonly Row[] }[] } | undefined
  readonly error: unknown
  readonly hasNextPage: boolean
  readonly fetchNextPage: () => unknown
  readonly refetch: () => unknown
}

/** What was here before, revision by revision; asked for when somebody opens it. */
export function Earlier<Row extends Revision>({
  list,
  open,
  toggle,
  show,
  none,
}: {
  readonly list: Pages<Row>
  readonly open: boolean
  readonly toggle: (open: boolean) => void
  readonly show: (row: Row) => ReactNode
  readonly none: string
}) {
  const rows = list.data?.pages.flatMap(({ items }) => items)
  return (
    <details onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>{t('list.earlier')}</summary>
      {!open ? null : rows === undefined ? (
        list.error === null ? (
          <Loading rows={2} />
        ) : (
          <Failed error={list.error} again={() => void list.refetch()} />
        )
      ) : rows.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ol className="earlier">
          {rows.map((row) => (
            <li key={row.revision}>
              <p className="muted small">
                {t('file.revision', { revision: row.revision })}
                {row.createdAt === null ? null : (
                  <>
                    {' · '}
                    <Moment at={row.createdAt} />
                  </>
                )}
                {row.actor === null ? null : (
                  <>
                    {' · '}
                    <Actor actor={row.actor} name={row.actorName} />
                  </>
                )}
              </p>
              {show(row)}
            </li>
          ))}
        </ol>
      )}
      {list.hasNextPage ? (
        <button type="button" className="link" onClick={() => void list.fetchNextPage()}>
          {t('list.more')}
        </button>
      ) : null}
    </details>
  )
}
