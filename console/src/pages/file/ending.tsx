import { useState } from 'react'
import { useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { t } from '../../words/words.ts'

/** Ends a path, and takes that back. */
export const Ending = ({
  repository,
  path,
  revision,
  removed,
}: {
  readonly repository: string
  readonly path: string
  readonly revision: number
  readonly removed: boolean
}) => {
  const [open, setOpen] = useState(false)
  const remove = useChange('removeAsset', ['listAssetHistory', 'listAssetPage'])
  const restore = useChange('restoreAsset', ['listAssetHistory', 'listAssetPage'])
  const run = async (): Promise<void> => {
    const gone = await remove.mutateAsync({ path: { repository }, body: { path, expectedRevision: revision } })
    setOpen(false)
    const body = { path, sourceRevision: revision, expectedRevision: gone.revision }
    tell(t('file.wasRemoved', { path }), async () => {
      await restore.mutateAsync({ path: { repository }, body })
      tell(t('file.back'))
    })
  }
  if (removed) return null
  return (
    <>
      <div>
        <Act by="removeAsset" on={repository} icon="trash" label={t('file.remove')} run={() => setOpen(true)} />
      </div>
      <FormDialog
        title={t('file.remove')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void run().catch(() => {})}
        label={t('file.remove')}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        <p>{t('file.removing', { path })}</p>
      </FormDialog>
    </>
  )
}
