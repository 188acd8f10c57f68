import { NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { isProblem } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { Meter, Moment, Size, Tag } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { shortBytes } from '../values/format.ts'
import { said, t } from '../words/words.ts'

/** Room, what the policy keeps and lets go, and what happened; for whoever has a key that may look. */
export const Storage = () => {
  const { repository } = useParams({ from: '/r/$repository/storage' })
  const { tab = 'usage' } = useSearch({ from: '/r/$repository/storage' })
  const allowed = useMay()('getStorageUsage', repository)
  return (
    <Page title={t('tab.storage')} lead={t('storage.lead')}>
      {allowed.may ? (
        <>
          <nav className="tabs" aria-label={t('tab.storage')}>
            {(['usage', 'policy', 'events'] as const).map((each) => (
              <Link
                key={each}
                to="/r/$repository/storage"
                params={{ repository }}
                search={{ tab: each }}
                className={tab === each ? 'active' : ''}
              >
                {said('storage.tab', each)}
              </Link>
            ))}
          </nav>
          {tab === 'policy' ? (
            <Policy repository={repository} />
          ) : tab === 'events' ? (
            <Events repository={repository} />
          ) : (
            <Usage repository={repository} />
          )}
        </>
      ) : (
        <Forbidden missing={allowed} />
      )}
    </Page>
  )
}

interface Of {
  readonly repository: string
}

const tones = { unlimited: 'plain', normal: 'ok', warning: 'warn', critical: 'danger', exceeded: 'danger' } as const
const meters = { unlimited: '', normal: '', warning: 'warn', critical: 'danger', exceeded: 'danger' } as const

const Usage = ({ repository }: Of) => {
  const usage = useAsk('getStorageUsage', { path: { repository } })
  return (
    <>
      <Shown of={usage}>
        {(now) => {
          const used = Number(now.publishedBytes) + Number(now.retiredBytes) + Number(now.reservedBytes)
          const part = now.quotaBytes === null ? null : Math.min(1, used / Math.max(1, Number(now.quotaBytes)))
          return (
            <div className="panel">
              <div className="spread">
                <span className="strong">
                  {now.quotaBytes === null
                    ? t('storage.used', { used: shortBytes(used) })
                    : t('storage.of', { used: shortBytes(used), quota: shortBytes(Number(now.quotaBytes)) })}
                </span>
                <Tag tone={tones[now.state]} text={said('storage.state', now.state)} />
              </div>
              {part === null ? null : <Meter name={t('storage.quota')} part={part} tone={meters[now.state]} />}
              <Facts
                facts={[
                  [t('storage.published'), <Size key="p" bytes={now.publishedBytes} />],
                  [t('storage.pending'), <Size key="n" bytes={now.pendingBytes} />],
                  [t('storage.retired'), <Size key="r" bytes={now.retiredBytes} />],
                  [t('storage.reserved'), <Size key="v" bytes={now.reservedBytes} />],
                  [t('storage.grace'), t('storage.hours', { hours: now.graceHours })],
                  [t('storage.next'), now.nextReleaseAt === null ? '–' : <Moment key="x" at={now.nextReleaseAt} />],
                ]}
              />
            </div>
          )
        }}
      </Shown>
      <Cleanup repository={repository} />
    </>
  )
}

const Cleanup = ({ repository }: Of) => {
  const cleanup = useAsk('getCleanup', { path: { repository } })
  const set = useChange('setCleanup', ['getCleanup', 'getStorageUsage'])
  const [open, setOpen] = useState(false)
  const [hours, setHours] = useState<number | string>('')
  const submit = async (): Promise<void> => {
    if (cleanup.data === undefined) return
    await set.mutateAsync({
      path: { repository },
      body: { expectedRevision: cleanup.data.revision, graceHours: hours === '' ? null : Number(hours) },
    })
    setOpen(false)
    tell(t('artifact.saved'))
  }
  return (
    <Section
      title={t('storage.cleanup')}
      actions={
        <Act
          by="setCleanup"
          on={repository}
          size="compact-sm"
          label={t('artifact.edit')}
          off={cleanup.data === undefined}
          run={() => {
            setHours(cleanup.data?.graceHours ?? '')
            setOpen(true)
          }}
        />
      }
    >
      <Shown of={cleanup} rows={1}>
        {({ graceHours, serverGraceHours }) => (
          <p>
            {graceHours === null
              ? t('storage.graceServer', { hours: serverGraceHours })
              : t('storage.graceOwn', { hours: graceHours })}
          </p>
        )}
      </Shown>
      <FormDialog
        title={t('storage.cleanup')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('dialog.save')}
        busy={set.isPending}
        error={set.error}
      >
        <NumberInput
          label={t('storage.graceHours')}
          description={t('storage.graceEmpty')}
          value={hours}
          onChange={setHours}
          min={0}
          allowDecimal={false}
          data-autofocus
        />
      </FormDialog>
    </Section>
  )
}

type Policy = Answer<'getStoragePolicy'>['policy']

const Policy = ({ repository }: Of) => {
  const read = useAsk('getStoragePolicy', { path: { repository } })
  const preview = useAsk(
    'previewStorageRun',
    { path: { repository } },
    { enabled: useMay()('previewStorageRun', repository).may },
  )
  const run = useChange('runStoragePolicy', [
    'previewStorageRun',
    'getStorageUsage',
    'getStoragePolicy',
    'searchArtifacts',
  ])
  const [editing, setEditing] = useState(false)
  const [running, setRunning] = useState(false)
  const go = async (): Promise<void> => {
    if (read.data === undefined) return
    const { items, images } = await run.mutateAsync({
      path: { repository },
      body: { expectedRevision: read.data.revision },
    })
    setRunning(false)
    tell(
      t('storage.ran', {
        count:
          items.filter(({ outcome }) => outcome === 'deleted').length +
          images.filter(({ outcome }) => outcome !== 'protected').length,
      }),
    )
  }
  return (
    <div className="aside">
      <Section
        title={t('storage.policy')}
        actions={
          <Act
            by="putStoragePolicy"
            on={repository}
            size="compact-sm"
            label={t('artifact.edit')}
            off={read.data === undefined}
            run={() => setEditing(true)}
          />
        }
      >
        <Shown of={read}>
          {(now) => (
            <div className="panel">
              <Tag
                tone={now.policy.enabled ? 'ok' : 'plain'}
                text={now.policy.enabled ? t('storage.enabled') : t('storage.disabled')}
              />
              <p>
                {t('storage.sentence', {
                  keep: now.policy.keepLast,
                  grouping: said('storage.grouping', now.policy.grouping),
                  hours: now.policy.minAgeHours,
                })}
              </p>
              <Facts
                facts={[
                  [
                    t('storage.channels'),
                    now.policy.channels.map(({ label, keepLast }) => `${label}: ${keepLast}`).join(', ') || '–',
                  ],
                  [t('storage.protected'), now.policy.protectedLabels.join(', ') || '–'],
                  [t('storage.every'), t('storage.minutes', { minutes: now.policy.intervalMinutes })],
                  [
                    t('storage.quota'),
                    now.policy.quotaBytes === null ? t('storage.none') : <Size key="q" bytes={now.policy.quotaBytes} />,
                  ],
                  [t('storage.nextRun'), now.nextRunAt === null ? '–' : <Moment key="n" at={now.nextRunAt} />],
                  [t('storage.lastRun'), now.lastRunAt === null ? '–' : <Moment key="l" at={now.lastRunAt} />],
                ]}
              />
              {now.lastError === null ? null : <p className="band danger">{now.lastError}</p>}
              {editing ? <EditPolicy repository={repository} now={now} close={() => setEditing(false)} /> : null}
            </div>
          )}
        </Shown>
      </Section>
      <Section
        title={t('storage.preview')}
        actions={
          <Act
            by="runStoragePolicy"
            on={repository}
            size="compact-sm"
            label={t('storage.run')}
            run={() => setRunning(true)}
          />
        }
      >
        <Shown of={preview} rows={3}>
          {({ items, images, hasMore }) =>
            items.length + images.length === 0 ? (
              <p className="muted">{t('storage.nothing')}</p>
            ) : (
              <ul className="panel lines">
                {items.map(({ id, name, size }) => (
                  <li key={id} className="spread">
                    <Link to="/r/$repository/artifacts/$id" params={{ repository, id }}>
                      {name}
                    </Link>
                    <Size bytes={size} />
                  </li>
                ))}
                {images.map(({ image, digest, tags }) => (
                  <li key={image + digest} className="mono">
                    {image}:{tags.join(', ')}
                  </li>
                ))}
                {hasMore ? <li className="muted">{t('storage.more')}</li> : null}
              </ul>
            )
          }
        </Shown>
      </Section>
      <FormDialog
        title={t('storage.run')}
        open={running}
        close={() => setRunning(false)}
        submit={() => void go().catch(() => {})}
        label={t('storage.run')}
        busy={run.isPending}
        error={run.error}
        danger
      >
        <p>{t('storage.running', { count: (preview.data?.items.length ?? 0) + (preview.data?.images.length ?? 0) })}</p>
      </FormDialog>
    </div>
  )
}

const groupings = ['package-channel', 'package', 'repository'] as const
const groupingOf = (text: string | null): Policy['grouping'] => groupings.find((each) => each === text) ?? 'package'

const EditPolicy = ({
  repository,
  now,
  close,
}: Of & { readonly now: Answer<'getStoragePolicy'>; readonly close: () => void }) => {
  const [policy, setPolicy] = useState(now.policy)
  const [revision, setRevision] = useState(now.revision)
  const [channels, setChannels] = useState(now.policy.channels.map(({ label, keepLast }) => `${label}=${keepLast}`))
  const [theirs, setTheirs] = useState(false)
  const read = useAsk('getStoragePolicy', { path: { repository } })
  const put = useChange('putStoragePolicy', ['getStoragePolicy', 'previewStorageRun'])
  const submit = async (): Promise<void> => {
    const body = {
      ...policy,
      channels: channels.map((each) => {
        const [label = '', keep = '1'] = each.split('=')
        return { label, keepLast: Number(keep) || 1 }
      }),
    }
    try {
      await put.mutateAsync({ path: { repository }, body: { expectedRevision: revision, policy: body } })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isProblem(error) || error.code !== 'revision_mismatch') return
      const { data } = await read.refetch()
      if (data !== undefined) setRevision(data.revision)
      setTheirs(true)
    }
  }
  const number = (
    key: 'keepLast' | 'minAgeHours' | 'intervalMinutes' | 'warningPercent' | 'criticalPercent',
    label: string,
  ) => (
    <NumberInput
      label={label}
      value={policy[key]}
      onChange={(value) => setPolicy({ ...policy, [key]: Number(value) })}
      min={0}
      allowDecimal={false}
    />
  )
  return (
    <FormDialog
      title={t('storage.policy')}
      open
      close={close}
      submit={() => void submit()}
      label={t('dialog.save')}
      busy={put.isPending}
      error={theirs ? null : put.error}
    >
      {theirs ? (
        <div className="band warn" role="alert">
          <Icon name="compare" />
          <div>
            <p className="strong">{t('conflict.title')}</p>
            <p>
              {t('conflict.policy', {
                sentence: t('storage.sentence', {
                  keep: read.data?.policy.keepLast ?? 0,
                  grouping: said('storage.grouping', read.data?.policy.grouping ?? ''),
                  hours: read.data?.policy.minAgeHours ?? 0,
                }),
              })}
            </p>
          </div>
        </div>
      ) : null}
      <Switch
        label={t('storage.enabled')}
        checked={policy.enabled}
        onChange={(event) => setPolicy({ ...policy, enabled: event.currentTarget.checked })}
      />
      <Select
        label={t('storage.by')}
        allowDeselect={false}
        value={policy.grouping}
        onChange={(value) => setPolicy({ ...policy, grouping: groupingOf(value) })}
        data={groupings.map((value) => ({ value, label: said('storage.grouping', value) }))}
      />
      {number('keepLast', t('storage.keep'))}
      {number('minAgeHours', t('storage.age'))}
      {number('intervalMinutes', t('storage.interval'))}
      <TagsInput
        label={t('storage.channels')}
        description={t('storage.channelsHow')}
        value={channels}
        onChange={setChannels}
      />
      <TagsInput
        label={t('storage.protected')}
        value={policy.protectedLabels}
        onChange={(protectedLabels) => setPolicy({ ...policy, protectedLabels })}
      />
      <TextInput
        label={t('storage.quotaBytes')}
        description={t('storage.quotaEmpty')}
        value={policy.quotaBytes ?? ''}
        onChange={(event) =>
          setPolicy({ ...policy, quotaBytes: event.currentTarget.value === '' ? null : event.currentTarget.value })
        }
      />
      {number('warningPercent', t('storage.warn'))}
      {number('criticalPercent', t('storage.critical'))}
    </FormDialog>
  )
}

const levels = { info: 'info', warning: 'warn', error: 'danger' } as const

const Events = ({ repository }: Of) => {
  const list = usePages('listStorageEvents', (after) => ({
    path: { repository },
    query: { order: 'desc', ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Listed
      of={list}
      label={said('storage.tab', 'events')}
      keyOf={({ sequence }) => sequence}
      columns={[
        {
          key: 'time',
          label: t('activity.when'),
          width: '140px',
          show: ({ occurredAt }) => <Moment at={occurredAt} />,
        },
        {
          key: 'level',
          label: t('list.state'),
          width: '96px',
          show: ({ level }) => <Tag tone={levels[level]} text={said('level', level)} />,
        },
        {
          key: 'code',
          label: t('activity.what'),
          width: 'minmax(120px, 1fr)',
          show: ({ code }) => <span className="mono">{code}</span>,
        },
        {
          key: 'details',
          label: t('storage.details'),
          width: 'minmax(140px, 2fr)',
          wide: true,
          show: ({ details }) =>
            Object.entries(details)
              .map(([name, value]) => `${name}: ${value}`)
              .join(', '),
        },
      ]}
      empty={<Empty icon="disk" title={t('storage.noEvents')} />}
    />
  )
}
