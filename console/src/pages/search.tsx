import { Button, SegmentedControl, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { publishedColumn, sizeColumn, stagesColumn } from '../parts/columns.tsx'
import type { Column } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { ByteMark, Written } from '../parts/values.tsx'
import { t } from '../words/words.ts'
import { querySaid } from './search-words.ts'

type Hit = Answer<'searchEverywhere'>['items'][number]

const columnsOfHits = (): Column<Hit>[] => [
  {
    key: 'name',
    label: t('list.name'),
    width: 'minmax(160px, 2fr)',
    show: ({ repository, id, name }) => (
      <Link to="/r/$repository/artifacts/$id" params={{ repository, id }}>
        <Icon name="file" />
        <Written text={name} />
      </Link>
    ),
  },
  {
    key: 'repository',
    label: t('list.repository'),
    width: 'minmax(80px, 1fr)',
    show: ({ repository }) => <Written mono text={repository} />,
  },
  {
    key: 'path',
    label: t('list.path'),
    width: 'minmax(120px, 2fr)',
    wide: true,
    show: ({ repository, paths = [] }) =>
      paths[0] === undefined ? null : (
        <Link to="/r/$repository/file/$" params={{ repository, _splat: paths[0] }}>
          <Written mono text={paths[0]} />
        </Link>
      ),
  },
  stagesColumn(),
  sizeColumn('size'),
  publishedColumn({
    wide: 'middle',
  }),
]

/** Files of all repositories by any part of what is known of them. What was asked for stands in the address. */
export const Search = () => {
  const { q = '', order = 'desc' } = useSearch({ from: '/search' })
  const navigate = useNavigate({ from: '/search' })
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  const found = usePages('searchEverywhere', (after) => ({
    query: {
      ...querySaid(q),
      paths: 'true' as const,
      order: order === 'asc' ? 'asc' : 'desc',
      ...(after === undefined ? {} : { after: String(after) }),
    },
  }))
  const { sha256 } = querySaid(q)
  const columns = useMemo(columnsOfHits, [])
  return (
    <Page title={t('search.title')}>
      <search>
        <form
          className="filters"
          onSubmit={(event) => {
            event.preventDefault()
            void navigate({ search: (before) => ({ ...before, q: text.trim() }) })
          }}
        >
          <TextInput
            className="grow"
            label={t('home.find')}
            description={t('search.hint')}
            leftSection={<Icon name="search" />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit">{t('search.go')}</Button>
          <SegmentedControl
            aria-label={t('list.order')}
            value={order === 'asc' ? 'asc' : 'desc'}
            onChange={(next) => void navigate({ search: (before) => ({ ...before, order: next }), replace: true })}
            data={[
              { value: 'desc', label: t('list.newest') },
              { value: 'asc', label: t('list.oldest') },
            ]}
          />
        </form>
      </search>
      {sha256 === undefined ? null : (
        <p className="line muted">
          <ByteMark sha256={sha256} />
          {t('search.digest')}
        </p>
      )}
      <Listed
        of={found}
        label={t('search.title')}
        keyOf={({ repository, id }) => `${repository}/${id}`}
        columns={columns}
        empty={
          <Empty icon="search" title={t('search.nothing', { text: q })}>
            <p className="muted">{t('search.why')}</p>
            <button type="button" className="link" onClick={() => void navigate({ search: {} })}>
              {t('list.clear')}
            </button>
          </Empty>
        }
      />
    </Page>
  )
}
