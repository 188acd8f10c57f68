import { useAsk, useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment, Tag } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'

/** Whether people may lock files of Git LFS while they work on them. */
export const Locking = ({ repository }: { readonly repository: string }) => {
  const read = useAsk('getLfsSettings', { path: { repository } })
  const put = useChange('putLfsSettings', ['getLfsSettings'])
  const now = read.data
  return (
    <Section
      title={t('settings.locks')}
      actions={
        now === undefined ? undefined : (
          <Act
            by="putLfsSettings"
            on={repository}
            size="compact-sm"
            label={now.locking ? t('settings.turnOff') : t('settings.turnOn')}
            busy={put.isPending}
            run={() =>
              put.mutate(
                { path: { repository }, body: { expectedRevision: now.revision, locking: !now.locking } },
                {
                  onSuccess: () => tell(t('artifact.saved')),
                  onError: (error) => {
                    tellProblem(error)
                    void read.refetch()
                  },
                },
              )
            }
          />
        )
      }
    >
      <Shown of={read} rows={2}>
        {({ locking, savedAt }) => (
          <div className="panel">
            <Tag tone={locking ? 'ok' : 'plain'} text={locking ? t('settings.on') : t('settings.off')} />
            <p>{locking ? t('settings.locking') : t('settings.notLocking')}</p>
            {savedAt === null ? null : (
              <p className="muted small">
                {t('settings.saved')} <Moment at={savedAt} />
              </p>
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}
