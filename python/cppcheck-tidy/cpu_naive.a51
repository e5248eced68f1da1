<?xml version="1.0"?>
<analyzerinfo hash="3194176418298501286">
  <FileInfo check="Null pointer">
    <unsafe-usage my-id="src/ops/scan/scan.h:9:15" my-argnr="1" my-argname="call" file="src/ops/scan/cpu_naive.c" line="10" col="42" value="0"/>
  </FileInfo>
  <FileInfo check="Uninitialized variables">
    <unsafe-usage my-id="src/ops/scan/scan.h:9:15" my-argnr="1" my-argname="call" file="src/ops/scan/cpu_naive.c" line="10" col="42" value="0"/>
  </FileInfo>
  <FileInfo check="CheckUnusedFunctions">
    <functiondecl functionName="heddle_scan_cpu_naive" lineNumber="8"/>
    <functioncall functionName="HEDDLE_MAX_OPERANDS"/>
    <functioncall functionName="heddle_status"/>
  </FileInfo>
</analyzerinfo>
