import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange, type usePages } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { Commands } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment, Size } from '../../parts/values.tsx'
import { randomId } from '../../platform/ids.ts'
import { shellWord } from '../../values/shell.ts'
import { t } from '../../words/words.ts'
import { type PointRow, PointState } from './state.tsx'

/** The points of the vault, newest first. */
export const Points = ({ list }: { readonly list: ReturnType<typeof usePages<'listBackupPoints'>> }) => {
  const verify = useChange('verifyBackupPoint', ['getBackupStatus', 'listBackupJobs'])
  const pin = useChange('pinBackupPoint', ['listBackupPoints'])
  const [restoring, setRestoring] = useState<PointRow | null>(null)
  return (
    <Section title={t('backups.points')}>
      <Listed
        of={list}
        label={t('backups.points')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'snapshotAt',
            label: t('backups.taken'),
            width: 'minmax(120px, 1fr)',
            show: ({ id, snapshotAt }) => (
              <Link to="/system/backups/$id" params={{ id }}>
                <Moment at={snapshotAt} />
              </Link>
            ),
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '140px',
            show: (point) => <PointState point={point} />,
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
          <Commands text={`svc restore ${shellWord(restoring?.id ?? '')}`} what={t('backups.restore')} />
        </div>
      </Dialog>
    </Section>
  )
}
