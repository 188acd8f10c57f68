import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell } from '../../parts/toasts.tsx'
import { Moment, Size, Tag, Written } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { lengthOf, wholeDays } from '../../values/format.ts'
import { said, t } from '../../words/words.ts'
import { EditPolicy } from './edit-policy.tsx'
import type { Of } from './of.ts'

/** What is kept how long, what the next run would delete, and the run itself. */
export const Policy = ({ repository }: Of) => {
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
                  ...wholeDays(now.policy.minAgeHours),
                })}
              </p>
              <Facts
                facts={[
                  [
                    t('storage.channels'),
                    now.policy.channels.map(({ label, keepLast }) => `${label}: ${keepLast}`).join(', ') || '–',
                  ],
                  [t('storage.protected'), now.policy.protectedLabels.join(', ') || '–'],
                  [t('storage.every'), lengthOf(now.policy.intervalMinutes * 60)],
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
                      <Written text={name} />
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
