import { SegmentedControl } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useWindow } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { BulkAct } from '../parts/bulk-act.tsx'
import { boxColumn, ChoiceBar, useChosen } from '../parts/choice.tsx'
import { Commands } from '../parts/copy.tsx'
import { Crumbs } from '../parts/crumbs.tsx'
import { Filter } from '../parts/filter.tsx'
import type { Column } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { News } from '../parts/news.tsx'
import { Page } from '../parts/page.tsx'
import { useStable } from '../parts/stable.ts'
import { Empty, Forbidden } from '../parts/states.tsx'
import { ByteMark, Moment, Size, Written } from '../parts/values.tsx'
import { ask, useMay } from '../session/holders.ts'
import { DropZone } from '../upload/drop-zone.tsx'
import { t } from '../words/words.ts'
import { ChosenArtifacts } from './chosen-artifacts.tsx'
import { rawCommand } from './snippets.ts'

type Listing = Answer<'listAssetPage'>
type Row = { readonly kind: 'folder'; readonly path: string } | ({ readonly kind: 'file' } & Listing['items'][number])

/** A page of a folder with its folders among its files, in the order of their names. */
const rowsOf = ({ folders = [], items }: Listing): Row[] =>
  [
    ...folders.map((path) => ({ kind: 'folder' as const, path })),
    ...items.map((item) => ({ kind: 'file' as const, ...item })),
  ].sort((one, other) => (one.path < other.path ? -1 : 1))

const useFolder = (repository: string, prefix: string, flat: boolean, enabled: boolean) =>
  useWindow(
    ['listAssetPage', 'pages', repository, prefix, flat],
    async (after, signal) => {
      const page = await ask(
        'listAssetPage',
        {
          path: { repository },
          query: {
            prefix,
            limit: 100,
            ...(flat ? {} : { delimiter: '/' as const }),
            ...(after === undefined ? {} : { after: String(after) }),
          },
        },
        signal,
      )
      return { items: rowsOf(page), next: page.next }
    },
    { enabled },
  )

const keyOf = ({ kind, path }: Row): string => kind + path

/** What may be done with many paths: what they show gets labels and goes on its way, and they end. */
const ChosenPaths = ({
  repository,
  files,
  clear,
}: {
  readonly repository: string
  readonly files: readonly Listing['items'][number][]
  readonly clear: () => void
}) => {
  const shown = [...new Map(files.map(({ artifactId, path }) => [artifactId, { id: artifactId, name: path }])).values()]
  const revisions = new Map(files.map(({ path, revision }) => [path, revision]))
  const at = (path: string): number => revisions.get(path) ?? 0
  return (
    <>
      <ChosenArtifacts repository={repository} items={shown} clear={clear} deletes={false} />
      <BulkAct
        by="removeAsset"
        repository={repository}
        label={t('file.remove')}
        what={t('file.removingMany')}
        items={files.map(({ path }) => ({ id: path, name: path }))}
        touches={['listAssetPage', 'listAssetHistory']}
        clear={clear}
        work={({ id: path }) =>
          ask('removeAsset', { path: { repository }, body: { path, expectedRevision: at(path) } })
        }
        undo={({ id: path }) =>
          ask('restoreAsset', {
            path: { repository },
            body: { path, sourceRevision: at(path), expectedRevision: at(path) + 1 },
          })
        }
      />
    </>
  )
}

/** A folder of a repository, or everything below it at once. */
export const Files = () => {
  const { repository, _splat: folder = '' } = useParams({ from: '/r/$repository/files/$' })
  const { view, prefix = '' } = useSearch({ from: '/r/$repository/files/$' })
  const navigate = useNavigate({ from: '/r/$repository/files/$' })
  const may = useMay()
  const flat = view === 'flat'
  const base = folder === '' || folder.endsWith('/') ? folder : `${folder}/`
  const allowed = may('listAssetPage', repository)
  const list = useFolder(repository, base + prefix, flat, allowed.may)
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const { chosen, choose, clear } = useChosen()
  const files = rows.flatMap((row) => (row.kind === 'file' && chosen.has(keyOf(row)) ? [row] : []))
  const touch = useStable((key: string, range: boolean): void =>
    choose(rows.filter(({ kind }) => kind === 'file').map(keyOf), key, range),
  )
  // The same ones as long as they say the same, so that rows are not drawn anew with each page that comes.
  const columns = useMemo<Column<Row>[]>(() => {
    const nameOf = (path: string): string => (flat ? path : path.slice(base.length))
    return [
      boxColumn<Row>({
        keyOf,
        nameOf: ({ path }) => nameOf(path),
        chosen,
        choose: touch,
        isFor: ({ kind }) => kind === 'file',
      }),
      {
        key: 'name',
        label: t('list.name'),
        width: 'minmax(160px, 3fr)',
        show: (row) =>
          row.kind === 'folder' ? (
            <Link to="/r/$repository/files/$" params={{ repository, _splat: row.path }} search={{}}>
              <Icon name="folder" />
              <Written mono text={nameOf(row.path)} />
            </Link>
          ) : (
            <Link to="/r/$repository/file/$" params={{ repository, _splat: row.path }}>
              <Icon name="file" />
              <Written mono text={nameOf(row.path)} />
            </Link>
          ),
      },
      {
        key: 'mark',
        label: t('value.digest'),
        width: '150px',
        wide: true,
        show: (row) =>
          row.kind === 'file' && row.sha256 !== undefined ? (
            <span className="name">
              <ByteMark sha256={row.sha256} />
              <code>{row.sha256.slice(0, 12)}</code>
            </span>
          ) : null,
      },
      {
        key: 'revision',
        label: t('list.revision'),
        width: '72px',
        wide: true,
        end: true,
        show: (row) => (row.kind === 'file' ? row.revision : null),
      },
      {
        key: 'size',
        label: t('list.size'),
        width: '88px',
        end: true,
        show: (row) => (row.kind === 'file' && row.size !== undefined ? <Size bytes={row.size} /> : null),
      },
      {
        key: 'who',
        label: t('list.who'),
        width: 'minmax(96px, 1fr)',
        wide: true,
        show: (row) => (row.kind === 'file' ? (row.actorName ?? row.actor ?? null) : null),
      },
      {
        key: 'time',
        label: t('list.changed'),
        width: '128px',
        wide: 'middle',
        show: (row) => (row.kind === 'file' && row.updatedAt !== undefined ? <Moment at={row.updatedAt} /> : null),
      },
    ]
  }, [repository, base, flat, chosen, touch])
  if (!allowed.may)
    return (
      <Page title={t('tab.files')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  return (
    <Page
      title={base === '' ? t('tab.files') : (base.split('/').at(-2) ?? '')}
      lead={<Crumbs repository={repository} path={base} />}
    >
      <div className="filters">
        <Filter
          label={t('files.prefix')}
          value={prefix}
          change={(text) => void navigate({ search: (before) => ({ ...before, prefix: text }), replace: true })}
        />
        <SegmentedControl
          aria-label={t('files.view')}
          value={flat ? 'flat' : 'folders'}
          onChange={(next) =>
            void navigate({ search: (before) => ({ ...before, view: next === 'flat' ? 'flat' : '' }) })
          }
          data={[
            { value: 'folders', label: t('files.folders') },
            { value: 'flat', label: t('files.flat') },
          ]}
        />
      </div>
      <DropZone repository={repository} folder={base} />
      <News repository={repository} of={['listAssetPage']} />
      <Listed
        of={list}
        label={t('tab.files')}
        keyOf={keyOf}
        chosen={chosen}
        choose={(key, range) => {
          if (rows.some((row) => row.kind === 'file' && keyOf(row) === key)) touch(key, range)
        }}
        columns={columns}
        empty={
          prefix === '' ? (
            <Empty icon="folder" title={base === '' ? t('files.none') : t('files.emptyFolder')}>
              <p className="muted">{t('files.how')}</p>
              <Commands text={rawCommand(repository, base)} what={t('files.command')} />
            </Empty>
          ) : (
            <Empty icon="search" title={t('list.nothing')}>
              <button type="button" className="link" onClick={() => void navigate({ search: {} })}>
                {t('list.clear')}
              </button>
            </Empty>
          )
        }
      />
      <ChoiceBar count={files.length} clear={clear}>
        <ChosenPaths repository={repository} files={files} clear={clear} />
      </ChoiceBar>
    </Page>
  )
}
