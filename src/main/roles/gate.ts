import {
  type AccessDeps,
  authenticate,
  authenticateLink,
  authorize,
  authorizeAlso,
} from '../../features/identity/access/access.ts'
import { Admission } from '../../features/identity/access/admission.ts'
import type { Gate } from '../../http/pipeline/gate.ts'

/** Who is it, and may they: answered by the feature that knows. */
export const openGate = (access: AccessDeps): Gate => {
  const { reader } = access.database
  return {
    authenticate: (credential, shown) => authenticate(access, credential, shown),
    authenticateLink: (token, parameters) => authenticateLink(access, token, parameters),
    authorize: (caller, rule, parameters) => authorize(reader, caller, rule, parameters),
    authorizeAlso: (caller, second, repository) => authorizeAlso(reader, caller, second, repository),
    admission: (caller, question) => new Admission(access, caller, question),
  }
}
