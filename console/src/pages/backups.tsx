import { NumberInput, Switch, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { momentColumn } from '../parts/columns.tsx'
import { Commands } from '../parts/copy.tsx'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden, Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Meter, Moment, Size, Tag } from '../parts/values.tsx'
import { randomId } from '../platform/ids.ts'
import { useMay } from '../session/holders.ts'
import { exactTime, shortBytes } from '../values/format.ts'
import { said, t } from '../words/words.ts'

type Point = Answer<'listBackupPoints'>['items'][number]

/** Points and jobs are read anew when the status, which is looked at again and again, tells of others. */
const useAnew = (status: Answer<'getBackupStatus'> | undefined): void => {
  const client = useQueryClient()
  const { lastCompleted, running } = status ?? {}
  const told = [lastCompleted?.id, lastCompleted?.verifiedAt, running?.id, running?.state].join(' ')
  const seen = useRef(told)
  useEffect(() => {
    if (seen.current === told) return
    seen.current = told
    for (const id of ['listBackupPoints', 'listBackupJobs']) void client.invalidateQueries({ queryKey: [id] })
  }, [told, client])
}

/** In the order in which an operator asks: what can be brought back, when is the next, what threatens it, is there room. */
export const Backups = () => {
  const allowed = useMay()('getBackupStatus')
  const status = useAsk('getBackupStatus', {}, { enabled: allowed.may, everyMs: 10_000 })
  const points = usePages(
    'listBackupPoints',
    (after) => ({ query: { limit: 100, ...(after === undefined ? {} : { after: String(after) }) } }),
    { enabled: allowed.may },
  )
  const run = useChange('runBackup', ['getBackupStatus', 'listBackupJobs'])
  useAnew(status.data)
  if (!allowed.may)
    return (
      <Page title={t('nav.backups')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  const all = points.data?.pages.flatMap(({ items }) => items) ?? []
  const restorable = all.find(({ verifiedAt, verifyError }) => verifiedAt !== null && verifyError === null)
  return (
    <Page
      title={t('nav.backups')}
      lead={
        <Link to="/system" search={{}}>
          {t('nav.system')}
        </Link>
      }
      actions={
        <Act
          by="runBackup"
          icon="disk"
          variant="filled"
          label={t('backups.run')}
          busy={run.isPending}
          {...(status.data?.vault.configured === false ? { unless: t('backups.noVault') } : {})}
          run={() =>
            run.mutate(
              { headers: { 'idempotency-key': randomId() } },
              { onSuccess: () => tell(t('backups.asked')), onError: tellProblem },
            )
          }
        />
      }
    >
      <Shown of={status}>
        {(now) => (
          <>
            <div className="panel">
              <p className="line strong">
                <Icon name={restorable === undefined ? 'alert' : 'check'} size={20} />
                {restorable === undefined
                  ? t('backups.nothing')
                  : t('backups.newest', { time: exactTime(restorable.snapshotAt) })}
                {restorable === undefined ? null : <Moment at={restorable.snapshotAt} />}
              </p>
              <Facts
                facts={[
                  [
                    t('backups.next'),
                    now.nextRunAt === null ? t('backups.noNext') : <Moment key="n" at={now.nextRunAt} />,
                  ],
                  [
                    t('backups.agent'),
                    now.agent.online ? t('backups.online', { version: now.agent.version ?? '' }) : t('backups.offline'),
                  ],
                  [
                    t('backups.room'),
                    now.vault.freeBytes === null || now.vault.totalBytes === null
                      ? t('backups.unknown')
                      : t('backups.free', {
                          free: shortBytes(Number(now.vault.freeBytes)),
                          total: shortBytes(Number(now.vault.totalBytes)),
                        }),
                  ],
                  [
                    t('backups.vault'),
                    now.vault.configured
                      ? now.vault.available
                        ? t('backups.available')
                        : t('backups.unavailable')
                      : t('backups.unconfigured'),
                  ],
                ]}
              />
            </div>
            {now.warnings.length === 0 ? null : (
              <ul className="attention">
                {now.warnings.map(({ code, severity }) => (
                  <li key={code} className={severity === 'critical' ? 'danger' : ''}>
                    <Icon name="alert" />
                    <div>
                      <p className="strong">{said('backup', code)}</p>
                      <p>{said('remedy', code)}</p>
                    </div>
                  </li>
                ))}
              </ul>
            )}
            {now.running === null ? null : (
              <div className="panel" role="status">
                <p className="strong">
                  {said('backup.kind', now.running.kind)} · {said('job', now.running.state)}
                </p>
                <Meter
                  name={t('backups.progress')}
                  part={Number(now.running.progress.bytesCopied) / Math.max(1, Number(now.running.progress.bytesTotal))}
                />
              </div>
            )}
            <Plan plan={now.plan} next={now.nextRunAt} />
          </>
        )}
      </Shown>
      <Points list={points} />
      <Jobs />
    </Page>
  )
}

const Plan = ({ plan, next }: { readonly plan: Answer<'getBackupPlan'>; readonly next: string | null }) => {
  const [open, setOpen] = useState(false)
  const [draft, setDraft] = useState(plan)
  const put = useChange('putBackupPlan', ['getBackupStatus', 'getBackupPlan'])
  const { hour, minute, timezone, retention, enabled } = plan
  const number = (label: string, value: number, change: (next: number) => void, max: number) => (
    <NumberInput
      label={label}
      value={value}
      onChange={(given) => change(Number(given))}
      min={0}
      max={max}
      allowDecimal={false}
    />
  )
  return (
    <Section
      title={t('backups.plan')}
      actions={
        <Act
          by="putBackupPlan"
          size="compact-sm"
          label={t('artifact.edit')}
          run={() => {
            setDraft(plan)
            setOpen(true)
          }}
        />
      }
    >
      <div className="panel">
        <p>
          {enabled
            ? t('backups.sentence', {
                time: `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`,
                timezone,
                daily: retention.daily,
                weekly: retention.weekly,
                monthly: retention.monthly,
              })
            : t('backups.noPlan')}
        </p>
        {next === null ? null : <p className="muted">{exactTime(next)}</p>}
      </div>
      <FormDialog
        title={t('backups.plan')}
        open={open}
        close={() => setOpen(false)}
        submit={() => {
          const { revision, ...rest } = draft
          put.mutate({ body: { ...rest, expectedRevision: revision } }, { onSuccess: () => setOpen(false) })
        }}
        label={t('dialog.save')}
        busy={put.isPending}
        error={put.error}
      >
        <Switch
          label={t('storage.enabled')}
          checked={draft.enabled}
          onChange={(event) => setDraft({ ...draft, enabled: event.currentTarget.checked })}
        />
        {number(t('backups.hour'), draft.hour, (value) => setDraft({ ...draft, hour: value }), 23)}
        {number(t('backups.minute'), draft.minute, (value) => setDraft({ ...draft, minute: value }), 59)}
        <TextInput
          label={t('backups.zone')}
          value={draft.timezone}
          onChange={(event) => setDraft({ ...draft, timezone: event.currentTarget.value })}
        />
        {number(
          t('backups.daily'),
          draft.retention.daily,
          (daily) => setDraft({ ...draft, retention: { ...draft.retention, daily } }),
          1000,
        )}
        {number(
          t('backups.weekly'),
          draft.retention.weekly,
          (weekly) => setDraft({ ...draft, retention: { ...draft.retention, weekly } }),
          1000,
        )}
        {number(
          t('backups.monthly'),
          draft.retention.monthly,
          (monthly) => setDraft({ ...draft, retention: { ...draft.retention, monthly } }),
          1000,
        )}
      </FormDialog>
    </Section>
  )
}

const toneOf = ({ verifiedAt, verifyError }: Point): 'ok' | 'danger' | 'plain' =>
  verifyError !== null ? 'danger' : verifiedAt === null ? 'plain' : 'ok'

const Points = ({ list }: { readonly list: ReturnType<typeof usePages<'listBackupPoints'>> }) => {
  const verify = useChange('verifyBackupPoint', ['getBackupStatus', 'listBackupJobs'])
  const pin = useChange('pinBackupPoint', ['listBackupPoints'])
  const [restoring, setRestoring] = useState<Point | null>(null)
  return (
    <Section title={t('backups.points')}>
      <Listed
        of={list}
        label={t('backups.points')}
        keyOf={({ id }) => id}
        columns={[
          momentColumn('snapshotAt', t('backups.taken'), { width: 'minmax(120px, 1fr)' }),
          {
            key: 'state',
            label: t('list.state'),
            width: '140px',
            show: (point) => (
              <span className="name">
                <Tag
                  tone={toneOf(point)}
                  text={
                    point.verifyError !== null
                      ? t('backups.damaged')
                      : point.verifiedAt === null
                        ? t('backups.unverified')
                        : said('depth', point.verifyDepth ?? 'structural')
                  }
                />
                {point.pinned ? <Icon name="pin" /> : null}
              </span>
            ),
          },
          {
            key: 'content',
            label: t('backups.content'),
            width: '96px',
            end: true,
            wide: true,
            show: ({ contentBytes }) => <Size bytes={contentBytes} />,
          },
          {
            key: 'new',
            label: t('backups.new'),
            width: '96px',
            end: true,
            wide: true,
            show: ({ newBytes }) => <Size bytes={newBytes} />,
          },
          {
            key: 'act',
            label: t('list.actions'),
            width: '272px',
            end: true,
            show: (point) => (
              <span className="line end-line">
                <Act
                  by="verifyBackupPoint"
                  size="compact-xs"
                  label={t('backups.verify')}
                  run={() =>
                    verify.mutate(
                      { path: { id: point.id }, headers: { 'idempotency-key': randomId() } },
                      { onSuccess: () => tell(t('backups.asked')), onError: tellProblem },
                    )
                  }
                />
                <Act
                  by="pinBackupPoint"
                  size="compact-xs"
                  label={point.pinned ? t('backups.unpin') : t('backups.pin')}
                  run={() =>
                    pin.mutate({ path: { id: point.id }, body: { pinned: !point.pinned } }, { onError: tellProblem })
                  }
                />
                <button type="button" className="link small" onClick={() => setRestoring(point)}>
                  {t('backups.restore')}
                </button>
              </span>
            ),
          },
        ]}
        empty={<Empty icon="disk" title={t('backups.none')} />}
      />
      <Dialog title={t('backups.restore')} open={restoring !== null} close={() => setRestoring(null)} size="lg">
        <div className="form">
          <p>{t('backups.restoring')}</p>
          <Commands text={`svc restore ${restoring?.id ?? ''}`} what={t('backups.restore')} />
        </div>
      </Dialog>
    </Section>
  )
}

const Jobs = () => {
  const jobs = usePages('listBackupJobs', (after) => ({
    query: { limit: 50, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Section title={t('backups.jobs')}>
      <Listed
        of={jobs}
        label={t('backups.jobs')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'kind',
            label: t('activity.what'),
            width: 'minmax(100px, 1fr)',
            show: ({ kind }) => said('backup.kind', kind),
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '120px',
            show: ({ state }) => (
              <Tag
                tone={state === 'completed' ? 'ok' : state === 'failed' || state === 'interrupted' ? 'danger' : 'info'}
                text={said('job', state)}
              />
            ),
          },
          momentColumn('startedAt', t('activity.when')),
          {
            key: 'error',
            label: t('list.error'),
            width: 'minmax(96px, 1fr)',
            wide: true,
            show: ({ errorCode }) => errorCode,
          },
        ]}
        empty={<Empty icon="history" title={t('backups.noJobs')} />}
      />
    </Section>
  )
}
