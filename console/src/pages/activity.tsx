import { Button, SegmentedControl, Select } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { usePages } from '../contract/asking.ts'
import type { Answer, Given } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { actorColumn, timeColumn } from '../parts/columns.tsx'
import { ExactFilter } from '../parts/exact-filter.tsx'
import type { Column } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { News } from '../parts/news.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Forbidden } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Written } from '../parts/values.tsx'
import { ask, useMay } from '../session/holders.ts'
import { beginningOf, endOf } from '../values/days.ts'
import { exactTime } from '../values/format.ts'
import { said, t, wordsOf } from '../words/words.ts'

type Query = NonNullable<Given<'listAudit'>['query']>
type Action = NonNullable<Query['action']>

const actions = (): Action[] => wordsOf('journal').filter((word): word is Action => word.includes('.'))
const isAction = (text: string): text is Action => actions().some((each) => each === text)

/** Who did what in a repository, newest first; promotions have a journal of their own. */
export const Activity = () => {
  const { repository } = useParams({ from: '/r/$repository/activity' })
  const {
    kind,
    order,
    who = '',
    what = '',
    about = '',
    since = '',
    until = '',
  } = useSearch({
    from: '/r/$repository/activity',
  })
  const navigate = useNavigate({ from: '/r/$repository/activity' })
  const allowed = useMay()('listAudit', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.activity')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  const direction = order === 'asc' ? 'asc' : 'desc'
  const [from, to] = [beginningOf(since), endOf(until)]
  const wanted: Query = {
    ...(who === '' ? {} : { actor: who }),
    ...(isAction(what) ? { action: what } : {}),
    ...(about === '' ? {} : { subject: about }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
  const set = (name: string) => (text: string | null) =>
    void navigate({ search: (before) => ({ ...before, [name]: text ?? '' }) })
  return (
    <Page
      title={t('tab.activity')}
      lead={t('activity.lead')}
      actions={<Export repository={repository} wanted={wanted} />}
    >
      <div className="filters">
        <SegmentedControl
          aria-label={t('activity.kind')}
          value={kind === 'promotions' ? 'promotions' : 'changes'}
          onChange={set('kind')}
          data={[
            { value: 'changes', label: t('activity.changes') },
            { value: 'promotions', label: t('activity.promotions') },
          ]}
        />
        <SegmentedControl
          aria-label={t('list.order')}
          value={direction}
          onChange={set('order')}
          data={[
            { value: 'desc', label: t('list.newest') },
            { value: 'asc', label: t('list.oldest') },
          ]}
        />
      </div>
      {kind === 'promotions' ? (
        <Promotions repository={repository} order={direction} />
      ) : (
        <>
          <div className="filters">
            <ExactFilter label={t('list.who')} hint={t('activity.whoHint')} value={who} change={set('who')} />
            <Select
              label={t('activity.what')}
              placeholder={t('activity.anything')}
              data={actions().map((each) => ({ value: each, label: said('journal', each) }))}
              value={isAction(what) ? what : null}
              onChange={set('what')}
              clearable
              searchable
            />
            <ExactFilter
              label={t('activity.about')}
              hint={t('activity.aboutHint')}
              value={about}
              change={set('about')}
            />
            <ExactFilter type="date" label={t('activity.from')} value={since} change={set('since')} />
            <ExactFilter type="date" label={t('activity.to')} value={until} change={set('until')} />
            {Object.keys(wanted).length === 0 ? null : (
              <button
                type="button"
                className="link"
                onClick={() => void navigate({ search: { ...(order === undefined ? {} : { order }) } })}
              >
                {t('list.clear')}
              </button>
            )}
          </div>
          <News repository={repository} of={['listAudit']} />
          <Changes repository={repository} order={direction} wanted={wanted} />
        </>
      )}
    </Page>
  )
}

interface Asked {
  readonly repository: string
  readonly order: 'asc' | 'desc'
}

const Changes = ({ repository, order, wanted }: Asked & { readonly wanted: Query }) => {
  const list = usePages('listAudit', (after) => ({
    path: { repository },
    query: { order, ...wanted, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const columns = useMemo<Column<Answer<'listAudit'>['items'][number]>[]>(
    () => [
      timeColumn(),
      actorColumn(),
      {
        key: 'what',
        label: t('activity.what'),
        width: 'minmax(120px, 1fr)',
        show: ({ action }) => <span title={action}>{said('journal', action)}</span>,
      },
      {
        key: 'which',
        label: t('activity.about'),
        width: 'minmax(120px, 3fr)',
        wide: true,
        show: ({ artifactId, artifactName, detail }) => (
          <span className="name">
            {artifactName === null ? null : (
              <Link to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
                <Written text={artifactName} />
              </Link>
            )}
            {detail === null || detail === artifactName ? (
              artifactName === null ? (
                <code className="muted">{artifactId.slice(0, 13)}…</code>
              ) : null
            ) : (
              <Written mono muted text={detail} />
            )}
          </span>
        ),
      },
    ],
    [repository],
  )
  return (
    <Listed
      of={list}
      label={t('tab.activity')}
      keyOf={({ sequence }) => sequence}
      columns={columns}
      empty={
        <Empty icon="activity" title={Object.keys(wanted).length === 0 ? t('activity.none') : t('list.nothing')} />
      }
    />
  )
}

const Promotions = ({ repository, order }: Asked) => {
  const list = usePages('listPromotions', (after) => ({
    path: { repository },
    query: { order, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Listed
      of={list}
      label={t('activity.promotions')}
      keyOf={({ sequence }) => sequence}
      columns={[
        timeColumn(),
        actorColumn({ wide: 'middle' }),
        {
          key: 'what',
          label: t('activity.what'),
          width: 'minmax(140px, 2fr)',
          show: ({ action, stage, peerRepository }) =>
            `${said('journal', action)} ${stage ?? ''} ${peerRepository ?? ''}`,
        },
        {
          key: 'comment',
          label: t('activity.comment'),
          width: 'minmax(120px, 2fr)',
          wide: true,
          show: ({ comment }) => comment,
        },
        {
          key: 'which',
          label: t('file.artifact'),
          width: '140px',
          wide: true,
          show: ({ artifactId, image }) =>
            image === null ? (
              <Link to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
                <code>{artifactId.slice(0, 13)}…</code>
              </Link>
            ) : (
              <Written mono text={image} />
            ),
        },
      ]}
      empty={<Empty icon="branch" title={t('activity.noPromotions')} />}
    />
  )
}

const pagesOfExport = 1_000

/** All of the journal that is wanted, a line of JSON for each of its lines, oldest first. */
const Export = ({ repository, wanted }: { readonly repository: string; readonly wanted: Query }) => {
  const [busy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    try {
      const lines: string[] = []
      let after: string | undefined
      for (let page = 0; page < pagesOfExport; page += 1) {
        const { items, next } = await ask('listAudit', {
          path: { repository },
          query: { order: 'desc', ...wanted, ...(after === undefined ? {} : { after }) },
        })
        for (const item of items) lines.push(JSON.stringify(item))
        after = next ?? undefined
        if (after === undefined) break
      }
      const text = `${lines.toReversed().join('\n')}\n`
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
      link.download = `${repository}-${exactTime(new Date().toISOString()).replaceAll(/\W+/g, '-')}.ndjson`
      link.click()
      URL.revokeObjectURL(link.href)
      if (after !== undefined) tell(t('activity.cut', { count: lines.length }))
    } catch (error) {
      tellProblem(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="default" loading={busy} leftSection={<Icon name="download" />} onClick={() => void run()}>
      {t('activity.export')}
    </Button>
  )
}
