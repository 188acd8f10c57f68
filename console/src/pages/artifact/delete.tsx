import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** Deletes a file; what keeps it is listed first. */
export const Delete = ({ repository, id, name }: Of & { readonly name: string }) => {
  const [open, setOpen] = useState(false)
  const navigate = useNavigate()
  const allowed = useMay()('checkArtifactDeletion', repository)
  const check = useAsk('checkArtifactDeletion', { path: { repository, id } }, { enabled: open && allowed.may })
  const remove = useChange('deleteArtifact', ['searchArtifacts', 'listArtifacts', 'listDeletedArtifacts'])
  const restore = useChange('restoreDeletedArtifact', ['searchArtifacts', 'listDeletedArtifacts', 'getArtifact'])
  const submit = async (): Promise<void> => {
    if (check.data === undefined) return
    const { outcome } = await remove.mutateAsync({
      path: { repository, id },
      body: { expectedAnnotationRevision: check.data.annotationRevision },
    })
    if (outcome !== 'deleted') {
      await check.refetch()
      return
    }
    setOpen(false)
    await navigate({ to: '/r/$repository/artifacts', params: { repository }, search: { view: 'deleted' } })
    tell(t('artifact.wasDeleted', { name }), async () => {
      await restore.mutateAsync({ path: { repository, id } })
      tell(t('artifacts.restored', { name }))
      await navigate({ to: '/r/$repository/artifacts/$id', params: { repository, id } })
    })
  }
  const blockers = check.data?.blockers ?? []
  return (
    <>
      <Act by="deleteArtifact" on={repository} icon="trash" label={t('artifact.delete')} run={() => setOpen(true)} />
      <FormDialog
        title={t('artifact.delete')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('artifact.delete')}
        busy={remove.isPending}
        error={remove.error ?? check.error}
        ready={check.data !== undefined && blockers.length === 0}
        danger
      >
        <p>{t('artifact.deleting', { name })}</p>
        {blockers.length === 0 ? null : (
          <div className="band warn">
            <Icon name="lock" />
            <div>
              <p className="strong">{t('artifact.blocked')}</p>
              {blockers.map((each) => (
                <p key={each}>{said('blocker', each)}</p>
              ))}
            </div>
          </div>
        )}
      </FormDialog>
    </>
  )
}
