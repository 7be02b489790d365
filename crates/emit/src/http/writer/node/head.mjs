@HEADER@
//
@@js
// Needs Node 20 or later. Environment:
@@ts
// Run with: npm install && npm test. Environment:
@@end
//
@ENVIRONMENT@

@IMPORTS@

