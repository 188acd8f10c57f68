import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { Forbidden, Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Meter, Moment } from '../../parts/values.tsx'
import { randomId } from '../../platform/ids.ts'
import { useMay } from '../../session/holders.ts'
import { exactTime, shortBytes } from '../../values/format.ts'
import { said, t } from '../../words/words.ts'
import { Jobs } from './jobs.tsx'
import { Plan } from './plan.tsx'
import { Points } from './points.tsx'

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
