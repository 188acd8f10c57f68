import type { ReactNode } from 'react'
import { Icon } from '../look/icons.tsx'
import { t } from '../words/words.ts'

/** Somebody saved something else meanwhile: what, and that nothing that was typed is lost. */
export const Changed = ({ children }: { readonly children: ReactNode }) => (
  <div className="band warn" role="alert">
    <Icon name="compare" />
    <div>
      <p className="strong">{t('conflict.title')}</p>
      {children}
    </div>
  </div>
)
