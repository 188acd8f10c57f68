import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isConflict } from '../../contract/problem.ts'
import { Act } from '../../parts/act.tsx'
import { Changed } from '../../parts/changed.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { tell } from '../../parts/toasts.tsx'
import { t } from '../../words/words.ts'
import { BindingList, type Bindings, EditBindings } from './bindings.tsx'

/** The account of a program. */
export type Account = Answer<'getServiceAccount'>

/** What a program may; two who change it at once are told of each other. */
export const Policy = ({ account }: { readonly account: Account }) => {
  const [open, setOpen] = useState(false)
  const [base, setBase] = useState(account)
  const [bindings, setBindings] = useState<Bindings>(account.bindings)
  const [clash, setClash] = useState(false)
  const put = useChange('putServicePolicy', ['getServiceAccount', 'listServiceAccounts'])
  const read = useAsk('getServiceAccount', { path: { id: account.id } })
  const submit = async (): Promise<void> => {
    try {
      await put.mutateAsync({
        path: { id: account.id },
        body: { expectedRevision: base.revision, bindings: bindings.filter(({ actions }) => actions.length > 0) },
      })
      setOpen(false)
      tell(t('artifact.saved'))
    } catch (error) {
      if (!isConflict(error)) return
      const { data } = await read.refetch()
      if (data === undefined) return
      setBase(data)
      setClash(true)
    }
  }
  return (
    <Section
      title={t('services.policy')}
      actions={
        <Act
          by="putServicePolicy"
          size="compact-sm"
          label={t('artifact.edit')}
          run={() => {
            setBase(account)
            setBindings(account.bindings)
            setClash(false)
            setOpen(true)
          }}
        />
      }
    >
      <BindingList bindings={account.bindings} />
      <FormDialog
        title={t('services.policy')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit()}
        label={t('dialog.save')}
        busy={put.isPending}
        error={clash ? null : put.error}
      >
        {clash ? (
          <Changed>
            <p>{t('conflict.theirs')}</p>
            <BindingList bindings={base.bindings} />
          </Changed>
        ) : null}
        <EditBindings bindings={bindings} change={setBindings} />
      </FormDialog>
    </Section>
  )
}
