import { SegmentedControl } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { actorColumn, momentColumn, timeColumn } from '../parts/columns.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { ExactFilter } from '../parts/exact-filter.tsx'
import { Grid } from '../parts/grid.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { tell } from '../parts/toasts.tsx'
import { Actor, Meter, Moment, Size, Tag, Written } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { beginningOf, endOf } from '../values/days.ts'
import { shortBytes } from '../values/format.ts'
import { said, t } from '../words/words.ts'
import { QueueOverTime } from './queue-over-time.tsx'

const tabs = ['overview', 'uploads', 'webhooks', 'audit'] as const

/** How the service is, and who changed what others may do. */
export const System = () => {
  const { tab = 'overview' } = useSearch({ from: '/system' })
  return (
    <Page title={t('nav.system')}>
      <Tabs label={t('nav.system')} at={tabs.map(String).indexOf(tab)}>
        {tabs.map((each) => (
          <Link key={each} to="/system" search={{ tab: each }} className={tab === each ? 'active' : ''}>
            {said('system.tab', each)}
          </Link>
        ))}
        <Link to="/system/backups">{t('nav.backups')}</Link>
      </Tabs>
      {tab === 'webhooks' ? <Webhooks /> : tab === 'audit' ? <Audit /> : tab === 'uploads' ? <Uploads /> : <Overview />}
    </Page>
  )
}

const Overview = () => {
  const allowed = useMay()('getOverview')
  const read = useAsk('getOverview', {}, { enabled: allowed.may, everyMs: 10_000 })
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Shown of={read}>
      {(now) => {
        const used = Number(now.space.publishedBytes ?? 0) + Number(now.space.reservedBytes ?? 0)
        const capacity = Number(now.space.capacityBytes)
        const part = capacity === 0 ? 0 : Math.min(1, used / capacity)
        return (
          <>
            <div className="panel">
              <div className="spread">
                <span className="line strong">
                  <Icon name={now.ready && now.writable ? 'check' : 'alert'} size={20} />
                  {now.ready
                    ? now.writable
                      ? t('system.ready')
                      : t('system.full')
                    : t('system.notReady', { reason: now.reason ?? '' })}
                </span>
                <Tag tone={now.ready && now.writable ? 'ok' : 'danger'} text={now.role} />
              </div>
              <Facts
                facts={[
                  [t('system.version'), now.version],
                  [t('system.started'), <Moment key="s" at={now.startedAt} />],
                  [t('system.processes'), now.processes],
                  [t('system.database'), said('system', now.database)],
                  [t('system.store'), said('system', now.store)],
                ]}
              />
            </div>
            <Section title={t('system.room')}>
              <div className="panel">
                <p>{t('storage.of', { used: shortBytes(used), quota: shortBytes(capacity) })}</p>
                <Meter name={t('system.room')} part={part} tone={part > 0.9 ? 'danger' : ''} />
                <Facts
                  facts={[
                    [t('storage.published'), <Size key="p" bytes={now.space.publishedBytes ?? '0'} />],
                    [t('storage.reserved'), <Size key="r" bytes={now.space.reservedBytes ?? '0'} />],
                    [
                      t('system.free'),
                      now.space.freeBytes === null ? '–' : <Size key="f" bytes={now.space.freeBytes} />,
                    ],
                    [t('system.reserve'), <Size key="e" bytes={now.space.reserveBytes} />],
                  ]}
                />
              </div>
            </Section>
            <Section title={t('system.now')}>
              <div className="panel">
                <Facts
                  facts={[
                    [t('system.uploads'), now.transfers.uploads.admission.active],
                    [
                      t('system.downloads'),
                      t('system.slots', {
                        active: now.transfers.downloads.admission.active,
                        slots: now.transfers.downloads.admission.slots,
                      }),
                    ],
                    [t('system.waiting'), now.transfers.downloads.admission.waiting],
                    [t('system.sessions'), now.openUploadSessions ?? '–'],
                    [t('system.jobs'), now.jobs.open ?? '–'],
                    [t('system.failed'), now.jobs.failedWithinADay ?? '–'],
                  ]}
                />
              </div>
            </Section>
            <QueueOverTime />
            {now.upkeep === null ? null : (
              <Section title={t('system.upkeep')}>
                <details className="panel">
                  <summary>
                    {t('system.details', { count: now.upkeep.length })}{' '}
                    <Moment at={now.upkeep.map(({ succeededAt }) => succeededAt).sort()[0] ?? now.startedAt} />
                  </summary>
                  <Facts
                    facts={now.upkeep.map(({ name, succeededAt }) => [name, <Moment key={name} at={succeededAt} />])}
                  />
                </details>
              </Section>
            )}
          </>
        )
      }}
    </Shown>
  )
}

const Uploads = () => {
  const allowed = useMay()('listOpenUploads')
  const list = usePages(
    'listOpenUploads',
    (after) => ({ query: { order: 'desc', limit: 100, ...(after === undefined ? {} : { after: String(after) }) } }),
    { enabled: allowed.may },
  )
  const users = useAsk('listUsers', {}, { enabled: allowed.may })
  const people = new Map(users.data?.items.map(({ id, name }) => [`account:${id}`, name]))
  const [ending, setEnding] = useState<Answer<'listOpenUploads'>['items'][number] | null>(null)
  const end = useChange('cancelAnyUpload', ['listOpenUploads', 'getOverview'])
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <>
      <Listed
        of={list}
        label={said('system.tab', 'uploads')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'who',
            label: t('list.who'),
            width: 'minmax(120px, 1fr)',
            show: ({ owner }) => <Actor actor={owner} name={people.get(owner)} />,
          },
          {
            key: 'repository',
            label: t('list.repository'),
            width: 'minmax(96px, 1fr)',
            show: ({ repository }) => <Written mono text={repository} />,
          },
          {
            key: 'stored',
            label: t('transfers.stored'),
            width: '96px',
            end: true,
            show: ({ storedBytes }) => <Size bytes={storedBytes} />,
          },
          {
            key: 'reserved',
            label: t('storage.reserved'),
            width: '96px',
            end: true,
            wide: true,
            show: ({ reservedBytes }) => <Size bytes={reservedBytes} />,
          },
          momentColumn('createdAt', t('services.made'), { wide: 'middle' }),
          momentColumn('expiresAt', t('transfers.ends'), { wide: true }),
          {
            key: 'act',
            label: t('list.actions'),
            width: '110px',
            end: true,
            show: (upload) => (
              <Act by="cancelAnyUpload" size="compact-xs" label={t('transfers.cancel')} run={() => setEnding(upload)} />
            ),
          },
        ]}
        empty={<Empty icon="upload" title={t('transfers.none')} />}
      />
      <FormDialog
        title={t('transfers.cancel')}
        open={ending !== null}
        close={() => setEnding(null)}
        submit={() =>
          end.mutate(
            { path: { id: ending?.id ?? '' } },
            {
              onSuccess: () => {
                setEnding(null)
                tell(t('transfers.cancelled'))
              },
            },
          )
        }
        label={t('transfers.cancel')}
        busy={end.isPending}
        error={end.error}
        danger
      >
        <p>{t('transfers.cancelling', { stored: shortBytes(Number(ending?.storedBytes ?? 0)) })}</p>
        {ending?.sending === true ? <p className="band warn">{t('transfers.sendingNow')}</p> : null}
      </FormDialog>
    </>
  )
}

const Webhooks = () => {
  const allowed = useMay()('listWebhooks')
  const read = useAsk('listWebhooks', {}, { enabled: allowed.may, everyMs: 15_000 })
  if (!allowed.may) return <Forbidden missing={allowed} />
  return (
    <Shown of={read}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="hook" title={t('system.noHooks')}>
            <p className="muted">{t('system.hooksHow')}</p>
          </Empty>
        ) : (
          <Grid
            label={said('system.tab', 'webhooks')}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              {
                key: 'host',
                label: t('system.host'),
                width: 'minmax(120px, 2fr)',
                show: ({ host }) => <Written mono text={host} />,
              },
              {
                key: 'repository',
                label: t('list.repository'),
                width: 'minmax(96px, 1fr)',
                show: ({ repository }) => repository,
              },
              {
                key: 'state',
                label: t('list.state'),
                width: '130px',
                show: ({ state }) => <Tag tone={state === 'delivering' ? 'ok' : 'danger'} text={said('hook', state)} />,
              },
              {
                key: 'error',
                label: t('list.error'),
                width: 'minmax(96px, 1fr)',
                wide: true,
                show: ({ errorCode }) => errorCode,
              },
              {
                key: 'next',
                label: t('system.nextTry'),
                width: '120px',
                wide: true,
                show: ({ nextTryAt }) => (nextTryAt === null ? null : <Moment at={nextTryAt} />),
              },
              {
                key: 'last',
                label: t('system.lastSuccess'),
                width: '120px',
                wide: true,
                show: ({ lastSuccessAt }) => (lastSuccessAt === null ? t('me.never') : <Moment at={lastSuccessAt} />),
              },
            ]}
          />
        )
      }
    </Shown>
  )
}

const Audit = () => {
  const { order, who = '', what = '', since = '', until = '' } = useSearch({ from: '/system' })
  const navigate = useNavigate({ from: '/system' })
  const allowed = useMay()('listSecurityAudit')
  const direction = order === 'asc' ? 'asc' : 'desc'
  const [from, to] = [beginningOf(since), endOf(until)]
  const list = usePages(
    'listSecurityAudit',
    (after) => ({
      query: {
        order: direction,
        ...(who === '' ? {} : { actor: who }),
        ...(what === '' ? {} : { action: what }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(after === undefined ? {} : { after: String(after) }),
      },
    }),
    { enabled: allowed.may },
  )
  if (!allowed.may) return <Forbidden missing={allowed} />
  const set = (name: string) => (text: string) => void navigate({ search: (before) => ({ ...before, [name]: text }) })
  return (
    <>
      <div className="filters">
        <SegmentedControl
          aria-label={t('list.order')}
          value={direction}
          onChange={set('order')}
          data={[
            { value: 'desc', label: t('list.newest') },
            { value: 'asc', label: t('list.oldest') },
          ]}
        />
        <ExactFilter label={t('list.who')} hint={t('activity.whoHint')} value={who} change={set('who')} />
        <ExactFilter label={t('activity.what')} hint="group.add-member" value={what} change={set('what')} />
        <ExactFilter type="date" label={t('activity.from')} value={since} change={set('since')} />
        <ExactFilter type="date" label={t('activity.to')} value={until} change={set('until')} />
      </div>
      <Listed
        of={list}
        label={said('system.tab', 'audit')}
        keyOf={({ sequence }) => sequence}
        columns={[
          timeColumn(),
          actorColumn(),
          {
            key: 'what',
            label: t('activity.what'),
            width: 'minmax(140px, 1fr)',
            show: ({ action }) => <Written mono text={action} />,
          },
          {
            key: 'whom',
            label: t('system.subject'),
            width: 'minmax(120px, 2fr)',
            wide: true,
            show: ({ subjects }) => subjects.map(({ kind, id, name }) => `${kind} ${name ?? id}`).join(', '),
          },
          {
            key: 'from',
            label: t('system.from'),
            width: '140px',
            wide: true,
            show: ({ clientAddress }) => <Written mono text={clientAddress} />,
          },
        ]}
        empty={<Empty icon="shield" title={t('activity.none')} />}
      />
    </>
  )
}
