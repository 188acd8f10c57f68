import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { t } from '../../words/words.ts'
import { type OfVersion, touchedByDeletion } from './of.ts'

/** Deletes a version, and takes that back. */
export const DeleteVersion = ({ repository, name, version }: OfVersion) => {
  const [open, setOpen] = useState(false)
  const navigate = useNavigate()
  const remove = useChange('deleteNpmVersion', touchedByDeletion)
  const restore = useChange('restoreNpmVersion', touchedByDeletion)
  const called = `${name}@${version}`
  const named = { package: name, version }
  const submit = async (): Promise<void> => {
    await remove.mutateAsync({ path: { repository }, query: named })
    setOpen(false)
    await navigate({ to: '/r/$repository/npm', params: { repository }, search: { package: name } })
    tell(t('npm.wasDeleted', { name: called }), async () => {
      await restore.mutateAsync({ path: { repository }, body: named })
      tell(t('artifacts.restored', { name: called }))
    })
  }
  return (
    <>
      <Act by="deleteNpmVersion" on={repository} icon="trash" label={t('npm.delete')} run={() => setOpen(true)} />
      <FormDialog
        title={t('npm.deleteOne', { name: called })}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('npm.delete')}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        <p>{t('npm.deleting')}</p>
      </FormDialog>
    </>
  )
}
