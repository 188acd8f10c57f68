export const attachmentKinds = ['manifest', 'sbom', 'signature', 'report', 'file'] as const
