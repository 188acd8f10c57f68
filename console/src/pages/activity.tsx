import { Button, SegmentedControl } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePages } from '../contract/asking.ts'
import { Icon } from '../look/icons.tsx'
import { actorColumn, timeColumn } from '../parts/columns.tsx'
import { Filter } from '../parts/filter.tsx'
import { Listed } from '../parts/listed.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Forbidden } from '../parts/states.tsx'
import { ask, useMay } from '../session/holders.ts'
import { exactTime } from '../values/format.ts'
import { said, t } from '../words/words.ts'

/** Who did what in a repository, newest first; promotions have a journal of their own. */
export const Activity = () => {
  const { repository } = useParams({ from: '/r/$repository/activity' })
  const { kind, order, who = '', what = '' } = useSearch({ from: '/r/$repository/activity' })
  const navigate = useNavigate({ from: '/r/$repository/activity' })
  const allowed = useMay()('listAudit', repository)
  if (!allowed.may)
    return (
      <Page title={t('tab.activity')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  const direction = order === 'asc' ? 'asc' : 'desc'
  return (
    <Page title={t('tab.activity')} lead={t('activity.lead')} actions={<Export repository={repository} />}>
      <div className="filters">
        <SegmentedControl
          aria-label={t('activity.kind')}
          value={kind === 'promotions' ? 'promotions' : 'changes'}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, kind: next }) })}
          data={[
            { value: 'changes', label: t('activity.changes') },
            { value: 'promotions', label: t('activity.promotions') },
          ]}
        />
        <SegmentedControl
          aria-label={t('list.order')}
          value={direction}
          onChange={(next) => void navigate({ search: (before) => ({ ...before, order: next }) })}
          data={[
            { value: 'desc', label: t('list.newest') },
            { value: 'asc', label: t('list.oldest') },
          ]}
        />
        <Filter
          label={t('list.who')}
          value={who}
          change={(text) => void navigate({ search: (before) => ({ ...before, who: text }), replace: true })}
        />
        <Filter
          label={t('activity.what')}
          value={what}
          change={(text) => void navigate({ search: (before) => ({ ...before, what: text }), replace: true })}
        />
      </div>
      {who + what === '' ? null : <p className="muted small">{t('activity.filtered')}</p>}
      {kind === 'promotions' ? (
        <Promotions repository={repository} order={direction} who={who} what={what} />
      ) : (
        <Changes repository={repository} order={direction} who={who} what={what} />
      )}
    </Page>
  )
}

interface Asked {
  readonly repository: string
  readonly order: 'asc' | 'desc'
  readonly who: string
  readonly what: string
}

interface Line {
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
}

const matches = ({ actor, actorName, action }: Line, { who, what }: Asked): boolean =>
  `${actor} ${actorName ?? ''}`.toLowerCase().includes(who.toLowerCase()) && action.includes(what.toLowerCase())

const Changes = (asked: Asked) => {
  const { repository, order } = asked
  const list = usePages('listAudit', (after) => ({
    path: { repository },
    query: { order, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const shown = list.data?.pages.map((page) => ({ ...page, items: page.items.filter((line) => matches(line, asked)) }))
  return (
    <Listed
      of={{ ...list, data: shown === undefined ? undefined : { pages: shown } }}
      label={t('tab.activity')}
      keyOf={({ sequence }) => sequence}
      columns={[
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
          label: t('file.artifact'),
          width: 'minmax(120px, 1fr)',
          wide: true,
          show: ({ artifactId }) => (
            <Link to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
              <code>{artifactId.slice(0, 13)}…</code>
            </Link>
          ),
        },
      ]}
      empty={<Empty icon="activity" title={t('activity.none')} />}
    />
  )
}

const Promotions = (asked: Asked) => {
  const { repository, order } = asked
  const list = usePages('listPromotions', (after) => ({
    path: { repository },
    query: { order, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  const shown = list.data?.pages.map((page) => ({ ...page, items: page.items.filter((line) => matches(line, asked)) }))
  return (
    <Listed
      of={{ ...list, data: shown === undefined ? undefined : { pages: shown } }}
      label={t('activity.promotions')}
      keyOf={({ sequence }) => sequence}
      columns={[
        timeColumn(),
        actorColumn(),
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
              <span className="mono">{image}</span>
            ),
        },
      ]}
      empty={<Empty icon="branch" title={t('activity.noPromotions')} />}
    />
  )
}

const pagesOfExport = 200

/** All of the journal that is kept, a line of JSON for each of its lines. */
const Export = ({ repository }: { readonly repository: string }) => {
  const [busy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    try {
      const lines: string[] = []
      let after: string | undefined
      for (let page = 0; page < pagesOfExport; page += 1) {
        const { items, next } = await ask('listAudit', {
          path: { repository },
          query: { order: 'asc', ...(after === undefined ? {} : { after }) },
        })
        for (const item of items) lines.push(JSON.stringify(item))
        if (next === null || next === undefined) break
        after = next
      }
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'application/x-ndjson' }))
      link.download = `${repository}-${exactTime(new Date().toISOString()).replaceAll(/\W+/g, '-')}.ndjson`
      link.click()
      URL.revokeObjectURL(link.href)
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
