/*
 * The SDK announces at every start which Node its later versions will want. The lock file pins the version, so the
 * notice tells an operator nothing; a developer who upgrades the SDK reads its change log.
 */
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
