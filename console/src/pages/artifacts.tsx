import { SegmentedControl, TextInput } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useChange, usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { boxColumn, ChoiceBar, useChosen } from '../parts/choice.tsx'
import { momentColumn, publishedColumn, sizeColumn, stagesColumn } from '../parts/columns.tsx'
import { ExactFilter } from '../parts/exact-filter.tsx'
import type { Column } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { News } from '../parts/news.tsx'
import { Page } from '../parts/page.tsx'
import { useStable } from '../parts/stable.ts'
import { Empty, Forbidden } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { ByteMark, Size, Written } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { beginningOf, endOf } from '../values/days.ts'
import { cursorAtTime } from '../values/id-time.ts'
import { t } from '../words/words.ts'
import { ChosenArtifacts } from './chosen-artifacts.tsx'
import { querySaid } from './search-words.ts'

/** Every published file of a repository, newest first, or what was deleted and can be brought back. */
export const Artifacts = () => {
  const { repository } = useParams({ from: '/r/$repository/artifacts' })
  const { q = '', order, view, day = '' } = useSearch({ from: '/r/$repository/artifacts' })
  const navigate = useNavigate({ from: '/r/$repository/artifacts' })
  const allowed = useMay()('listArtifacts', repository)
  const [text, setText] = useState(q)
  if (!allowed.may)
    return (
      <Page title={t('tab.artifacts')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  return (
    <Page title={t('tab.artifacts')} lead={t('artifacts.lead')}>
      <div className="filters">
        {view === 'deleted' ? null : (
          <form
            className="grow"
            onSubmit={(event) => {
              event.preventDefault()
              void navigate({ search: (before) => ({ ...before, q: text.trim() }) })
            }}
          >
            <TextInput
              aria-label={t('artifacts.filter')}
              placeholder={t('artifacts.filter')}
              leftSection={<Icon name="search" />}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          </form>
        )}
        <SegmentedControl
          aria-label={t('list.order')}
          value={order === 'asc' ? 'asc' : 'desc'}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, order: next }) })}
          data={[
            { value: 'desc', label: t('list.newest') },
            { value: 'asc', label: t('list.oldest') },
          ]}
        />
        {view === 'deleted' ? null : (
          <ExactFilter
            type="date"
            label={t('list.day')}
            value={day}
            change={(text) => void navigate({ search: (before) => ({ ...before, day: text }) })}
          />
        )}
        <SegmentedControl
          aria-label={t('files.view')}
          value={view === 'deleted' ? 'deleted' : 'there'}
          onChange={(next) =>
            void navigate({ search: (before) => ({ ...before, view: next === 'deleted' ? 'deleted' : '' }) })
          }
          data={[
            { value: 'there', label: t('artifacts.there') },
            { value: 'deleted', label: t('artifacts.deleted') },
          ]}
        />
      </div>
      <News repository={repository} of={['searchArtifacts', 'listDeletedArtifacts']} />
      {view === 'deleted' ? (
        <Deleted repository={repository} order={order === 'asc' ? 'asc' : 'desc'} />
      ) : (
        <Published repository={repository} q={q} order={order === 'asc' ? 'asc' : 'desc'} day={day} />
      )}
    </Page>
  )
}

interface Asked {
  readonly repository: string
  readonly order: 'asc' | 'desc'
}

/** The end of a day where the newest come first, and its beginning where the oldest do. */
const startOf = (day: string, order: 'asc' | 'desc'): string | undefined => {
  const time = order === 'desc' ? endOf(day) : beginningOf(day)
  return time === undefined ? undefined : cursorAtTime(order, time)
}

const Published = ({ repository, q, order, day }: Asked & { readonly q: string; readonly day: string }) => {
  const found = usePages('searchArtifacts', (cursor) => {
    const after = cursor ?? startOf(day, order)
    return {
      path: { repository },
      query: { ...querySaid(q), order, ...(after === undefined ? {} : { after: String(after) }) },
    }
  })
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? []
  const { chosen, choose, clear } = useChosen()
  const items = rows.filter(({ id }) => chosen.has(id)).map(({ id, name }) => ({ id, name }))
  const touch = useStable((key: string, range: boolean): void =>
    choose(
      rows.map(({ id }) => id),
      key,
      range,
    ),
  )
  // The same ones as long as they say the same, so that rows are not drawn anew with each page that comes.
  const columns = useMemo<Column<(typeof rows)[number]>[]>(
    () => [
      boxColumn<(typeof rows)[number]>({
        keyOf: ({ id }) => id,
        nameOf: ({ name }) => name,
        chosen,
        choose: touch,
      }),
      {
        key: 'name',
        label: t('list.name'),
        width: 'minmax(160px, 4fr)',
        show: ({ id, name }) => (
          <Link to="/r/$repository/artifacts/$id" params={{ repository, id }}>
            <Icon name="file" />
            <Written text={name} />
          </Link>
        ),
      },
      stagesColumn({ width: 'minmax(120px, 2fr)' }),
      sizeColumn('size'),
      publishedColumn({ wide: 'middle' }),
    ],
    [repository, chosen, touch],
  )
  return (
    <>
      <Listed
        of={found}
        label={t('tab.artifacts')}
        keyOf={({ id }) => id}
        chosen={chosen}
        choose={touch}
        columns={columns}
        empty={
          q === '' && day === '' ? (
            <Empty title={t('artifacts.none')}>
              <p className="muted">{t('files.how')}</p>
            </Empty>
          ) : (
            <Empty icon="search" title={q === '' ? t('list.nothing') : t('search.nothing', { text: q })} />
          )
        }
      />
      <ChoiceBar count={items.length} clear={clear}>
        <ChosenArtifacts repository={repository} items={items} clear={clear} />
      </ChoiceBar>
    </>
  )
}

const Deleted = ({ repository, order }: Asked) => {
  const found = usePages('listDeletedArtifacts', (after) => ({
    path: { repository },
    query: { order, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const restore = useChange('restoreDeletedArtifact', ['listDeletedArtifacts', 'searchArtifacts'])
  return (
    <Listed
      of={found}
      label={t('artifacts.deleted')}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          label: t('list.name'),
          width: 'minmax(140px, 3fr)',
          show: ({ name, sha256 }) => (
            <span className="name">
              <ByteMark sha256={sha256} />
              <Written text={name} />
            </span>
          ),
        },
        {
          key: 'size',
          label: t('list.size'),
          width: '88px',
          end: true,
          wide: true,
          show: ({ size }) => <Size bytes={size} />,
        },
        momentColumn('deletedAt', t('artifacts.when'), { width: '120px', wide: true }),
        momentColumn('restorableUntil', t('artifacts.until'), { width: '120px' }),
        {
          key: 'act',
          label: t('list.actions'),
          width: '140px',
          end: true,
          show: ({ id, name }) => (
            <Act
              by="restoreDeletedArtifact"
              on={repository}
              size="compact-xs"
              icon="undo"
              label={t('artifacts.restore')}
              run={() =>
                restore.mutate(
                  { path: { repository, id } },
                  { onSuccess: () => tell(t('artifacts.restored', { name })), onError: tellProblem },
                )
              }
            />
          ),
        },
      ]}
      empty={<Empty icon="trash" title={t('artifacts.noneDeleted')} />}
    />
  )
}
