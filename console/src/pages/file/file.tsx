import { Link, useParams, useSearch } from '@tanstack/react-router'
import { usePages } from '../../contract/asking.ts'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { t } from '../../words/words.ts'
import { Compare } from './compare.tsx'
import { Content } from './content.tsx'
import { Ending } from './ending.tsx'
import { History } from './history.tsx'
import { JumpToDay } from './jump-to-day.tsx'
import type { Revision } from './revision.ts'

/** What a path shows: the file, every revision of it, and what was here before. */
export const File = () => {
  const { repository, _splat: path = '' } = useParams({ from: '/r/$repository/file/$' })
  const { rev, with: other, from } = useSearch({ from: '/r/$repository/file/$' })
  const history = usePages('listAssetHistory', (before) => ({
    path: { repository },
    query: { path, ...(before === undefined ? {} : { before: Number(before) }) },
  }))
  const newestRows = history.data?.pages.flatMap(({ items }) => items) ?? []
  const newest = newestRows[0]
  // One that is far back is where the list begins, which would take long to come to page by page.
  const isLoaded = (revision: string | undefined): boolean =>
    revision === undefined || newestRows.some((row) => String(row.revision) === revision)
  const begins = Number(isLoaded(from) ? (isLoaded(rev) ? Number.NaN : rev) : from)
  const isBack = newest !== undefined && Number.isSafeInteger(begins) && begins > 0 && begins < newest.revision
  const back = usePages(
    'listAssetHistory',
    (before) => ({ path: { repository }, query: { path, before: Number(before ?? begins + 1) } }),
    { enabled: isBack },
  )
  const list = isBack ? back : history
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = rev === undefined ? newest : rows.find(({ revision }) => String(revision) === rev)
  const compared = rows.find(({ revision }) => String(revision) === other)
  return (
    <Page title={path.split('/').at(-1) ?? path} mono lead={<Crumbs repository={repository} path={path} isFile />}>
      <Shown of={list}>
        {() =>
          shown === undefined || newest === undefined ? (
            <p className="muted">{t('file.gone')}</p>
          ) : (
            <div className="aside">
              <div className="lines">
                {shown.removed === true ? (
                  <p className="band warn">{t('file.removed')}</p>
                ) : (
                  <Content repository={repository} id={shown.artifactId} />
                )}
                {compared === undefined ? null : <Compare repository={repository} {...inOrder(compared, shown)} />}
              </div>
              <Section title={t('file.history')}>
                <JumpToDay repository={repository} path={path} newest={newest.revision} />
                {isBack ? (
                  <Link to="." search={(before) => ({ ...before, from: '', rev: '' })}>
                    {t('file.toNewest')}
                  </Link>
                ) : null}
                <History
                  repository={repository}
                  path={path}
                  rows={rows}
                  shown={shown.revision}
                  newest={newest.revision}
                />
                {list.hasNextPage ? (
                  <button type="button" className="link" onClick={() => void list.fetchNextPage()}>
                    {t('list.more')}
                  </button>
                ) : null}
                <Ending
                  repository={repository}
                  path={path}
                  revision={newest.revision}
                  removed={newest.removed === true}
                />
              </Section>
            </div>
          )
        }
      </Shown>
    </Page>
  )
}

/** The older one first, whichever was chosen first. */
const inOrder = (one: Revision, other: Revision) =>
  one.revision < other.revision ? { one, other } : { one: other, other: one }
